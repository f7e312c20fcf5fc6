// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "testing/synthetic_job.h"

namespace hypermile {
namespace {

TEST(Sweep9, MeasuresNineLevelsFromTheDefaultToTheBottom) {
  const SyntheticJob job = clock_job(0.5);

  const Played played = play("sweep9", job);

  ASSERT_EQ(played.probes.size(), 9U);
  EXPECT_EQ(played.probes.front().setting, 0U);
  EXPECT_EQ(played.probes.back().setting, job.context.settings.size() - 1);
}

TEST(Sweep9, MeasuresEachRungOfAShortListOnce) {
  const SyntheticJob job = limit_job();

  EXPECT_EQ(play("sweep9", job).probes.size(), job.context.settings.size());
}

TEST(Sweep9, KeepsTheBestLevelWithinTheBound) {
  const SyntheticJob job = clock_job(0.3);

  const Played played = play("sweep9", job);

  std::size_t best = 0;
  for (const Step& probe : played.probes) {
    const std::size_t i = probe.setting;
    if (job.slowdown(i) <= 0.05 && job.energy(i) < job.energy(best)) best = i;
  }
  EXPECT_EQ(played.kept, best);
  EXPECT_NE(best, 0U);
}

}  // namespace
}  // namespace hypermile
