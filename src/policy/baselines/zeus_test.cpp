// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "testing/synthetic_job.h"

namespace hypermile {
namespace {

TEST(Zeus, VisitsEveryValueOnceFromTheHighestDown) {
  const SyntheticJob job = limit_job();

  const Played played = play("zeus", job);

  ASSERT_EQ(played.probes.size(), job.context.settings.size());
  for (std::size_t i = 0; i < played.probes.size(); ++i) EXPECT_EQ(played.probes[i].setting, i);
}

TEST(Zeus, KeepsTheLeastEnergyWithinTheBound) {
  for (const double compute_bound : {0.1, 0.5, 0.9}) {
    const SyntheticJob job = clock_job(compute_bound);

    EXPECT_EQ(play("zeus", job).kept, job.best(0.05)) << compute_bound;
  }
}

TEST(Zeus, SweepsItsOwnKnobWhereTheListHasTwo) {
  SyntheticJob job = limit_job();
  job.add({.sm_clock = Mhz(1000)}, 1.0, 50);  // tempting, and not a limit
  job.context.default_values.sm_clock = Mhz(1400);

  const Played played = play("zeus", job);

  EXPECT_EQ(played.probes.size(), job.context.settings.size() - 1);
  EXPECT_NE(played.kept, job.context.settings.size() - 1);
}

TEST(Zeus, WithoutABoundFollowsTheObjectiveAlone) {
  SyntheticJob job = clock_job(0.9);
  job.context.objective = *parse_objective("cost:1");

  EXPECT_EQ(play("zeus", job).kept, job.best(1e9));
}

}  // namespace
}  // namespace hypermile
