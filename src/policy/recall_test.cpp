// SPDX-License-Identifier: Apache-2.0
//
// What the policy "hypermile" does with what an earlier run of the job remembers.
#include <gtest/gtest.h>

#include <algorithm>

#include "testing/synthetic_job.h"

namespace hypermile {
namespace {

Remembered remember(const SyntheticJob& job, std::size_t setting) {
  return {setting, job.time[setting], job.power[setting] / job.power[0]};
}

struct Search {
  std::size_t kept = 0;  // held last
  std::vector<Step> probes = {};
};

Search search(const SyntheticJob& job) {
  const auto policy = make_policy("hypermile", job.context);
  Random random(7);
  Search result;
  for (int i = 0; i < 200; ++i) {
    const Step step = (*policy)->next();
    if (step.exploring) result.probes.push_back(step);
    if (!step.exploring) result.kept = step.setting;
    (*policy)->observe(job.window(step.setting, 0.003, random));
  }
  return result;
}

// Windows off the default before the first one that is held.
std::size_t probes_before_hold(const SyntheticJob& job, double noise) {
  const auto policy = make_policy("hypermile", job.context);
  Random random(7);
  std::size_t probes = 0;
  for (int i = 0; i < 100; ++i) {
    const Step step = (*policy)->next();
    if (!step.exploring) return probes;
    probes += step.setting != 0 ? 1 : 0;
    (*policy)->observe(job.window(step.setting, noise, random));
  }
  return probes;
}

TEST(Recall, HoldsAfterOneOrTwoProbes) {
  SyntheticJob job = clock_job(0.6);
  const Search first = search(job);
  const std::size_t before = probes_before_hold(job, 0.003);
  job.context.remembered = remember(job, first.kept);

  const std::size_t after = probes_before_hold(job, 0.003);

  EXPECT_GT(before, 3U);
  EXPECT_LE(after, 2U);
}

TEST(Recall, EndsWhereTheSearchDoes) {
  for (const double compute : {0.3, 0.5, 0.7, 0.9}) {
    SyntheticJob job = clock_job(compute);
    const Search first = search(job);
    job.context.remembered = remember(job, first.kept);

    const Search second = search(job);

    EXPECT_LE(job.slowdown(second.kept), 0.05) << compute;
    EXPECT_LE(job.energy(second.kept), job.energy(first.kept) * 1.01) << compute;
  }
}

TEST(Recall, AMemoryClockNeedsNoSearchOfItsOwn) {
  SyntheticJob job = memory_job(0.3);
  const Search first = search(job);
  ASSERT_TRUE(job.context.settings[first.kept].memory_clock);
  job.context.remembered = remember(job, first.kept);

  const std::size_t probes = probes_before_hold(job, 0.003);

  EXPECT_LE(probes, 2U);
}

// The same kernels, another batch: what was remembered is too slow now, or saves nothing.
TEST(Recall, WhatNoLongerHoldsIsSearchedAnew) {
  SyntheticJob then = clock_job(0.3);
  const Search first = search(then);
  SyntheticJob now = clock_job(0.95);
  ASSERT_GT(now.slowdown(first.kept), 0.08);
  now.context.remembered = remember(then, first.kept);
  const SyntheticJob fresh = clock_job(0.95);

  const Search second = search(now);

  const Search searched = search(fresh);
  EXPECT_LE(now.slowdown(second.kept), 0.05);
  EXPECT_LE(now.energy(second.kept), now.energy(searched.kept) * 1.01);
  const auto there = std::ranges::count(second.probes, first.kept, &Step::setting);
  EXPECT_LE(there, 2) << "one look is enough to see that it is too slow";
}

TEST(Recall, ASettingThatCouldSaveMoreThanItDidIsSearchedAnew) {
  SyntheticJob then = clock_job(0.95);
  const Search first = search(then);
  SyntheticJob now = clock_job(0.2);
  now.context.remembered = remember(then, first.kept);

  const Search second = search(now);

  EXPECT_LT(now.energy(second.kept), 0.9 * now.energy(first.kept));
  EXPECT_LE(now.slowdown(second.kept), 0.05);
}

TEST(Recall, NonsenseIsIgnored) {
  SyntheticJob job = clock_job(0.6);
  for (const std::size_t setting : {std::size_t{0}, std::size_t{100000}}) {
    job.context.remembered = Remembered{setting, 1.03, 0.8};

    const Search played = search(job);

    EXPECT_LE(job.slowdown(played.kept), 0.05);
    EXPECT_LT(job.energy(played.kept), 0.95 * job.energy(0));
  }
}

TEST(Recall, TheBoundHoldsWhateverIsRemembered) {
  Random random(3);
  for (int run = 0; run < 40; ++run) {
    SyntheticJob job = clock_job(random.uniform(0.1, 1));
    const auto setting = 1 + static_cast<std::size_t>(random.uniform() * 55);
    job.context.remembered = Remembered{setting, random.uniform(1, 1.1), random.uniform(0.5, 1)};

    const Search played = search(job);

    EXPECT_LE(job.slowdown(played.kept), 0.0525) << run;
  }
}

}  // namespace
}  // namespace hypermile
