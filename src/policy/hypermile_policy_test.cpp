// SPDX-License-Identifier: Apache-2.0
//
// What our policy makes of a card that heat holds back, and of Windows that no clock explains.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "testing/synthetic_job.h"

namespace hypermile {
namespace {

using Change = std::function<void(int number, std::size_t setting, Window& window)>;

// Plays `windows` of them, each passed through `change` before the policy sees it.
std::vector<Step> play_changed(const SyntheticJob& job, int windows, const Change& change) {
  const auto policy = make_policy("hypermile", job.context).value();
  Random random(3);
  std::vector<Step> steps;
  for (int i = 0; i < windows; ++i) {
    steps.push_back(policy->next());
    Window window = job.window(steps.back().setting, 0.002, random);
    window.first_iteration = 30.0 * i;
    change(i, steps.back().setting, window);
    policy->observe(window);
  }
  return steps;
}

void hold_back(Window& window, double slower) {
  window.time_per_iteration = *window.time_per_iteration * slower;
  window.refusal = Refusal::kHeldBack;
  window.unusable = "throttled";
}

TEST(HypermilePolicy, KeepsWhatItFoundWhenHeatHoldsTheDefaultBackLater) {
  SyntheticJob job = clock_job(0.6);
  job.context.job_iterations = 20000;

  const auto steps = play_changed(job, 500, [](int number, std::size_t setting, Window& window) {
    if (number >= 60 && setting == 0) hold_back(window, 1.12);
  });

  EXPECT_NE(steps.back().setting, 0U);
  // Judged by the default as it was when cool.
  EXPECT_LT(job.slowdown(steps.back().setting), 0.05);
}

TEST(HypermilePolicy, MeasuresADefaultThatIsAlwaysHotAsItIs) {
  SyntheticJob job = clock_job(0.6);
  job.context.job_iterations = 20000;

  const auto steps = play_changed(job, 200, [](int, std::size_t setting, Window& window) {
    if (setting == 0) hold_back(window, 1.0);
  });

  EXPECT_NE(steps.back().setting, 0U);
  EXPECT_LT(job.slowdown(steps.back().setting), 0.05);
}

TEST(HypermilePolicy, MeasuresAgainWhatNoClockExplains) {
  SyntheticJob job = clock_job(0.2);
  job.context.job_iterations = 20000;
  bool spoilt = false;

  const auto steps = play_changed(job, 200, [&](int, std::size_t setting, Window& window) {
    if (setting == 0 || spoilt) return;
    spoilt = true;
    window.time_per_iteration = *window.time_per_iteration * 1.6;
  });

  const std::size_t best = job.best(0.05);
  EXPECT_LT(job.energy(steps.back().setting), 1.05 * job.energy(best));
}

TEST(HypermilePolicy, BelievesWhatShowsAgainAndAgain) {
  SyntheticJob job = clock_job(0.2);
  job.context.job_iterations = 20000;

  const auto steps = play_changed(job, 200, [](int, std::size_t setting, Window& window) {
    if (setting != 0) window.time_per_iteration = *window.time_per_iteration * 1.6;
  });

  EXPECT_EQ(steps.back().setting, 0U);
}

// A window of thousands: eight iterations would say nothing, so that only twice the time was cut.
TEST(HypermilePolicy, CutsAPlainlySlowProbeHoweverManyIterationsAWindowHas) {
  SyntheticJob job = clock_job(0.6);
  job.context.job_iterations = 100000;
  job.context.window_iterations = 4000;

  const auto steps =
      play_changed(job, 20, [](int, std::size_t, Window& window) { window.iterations = 4000; });

  Random random(1);
  const Seconds usual = *job.window(0, 0, random).time_per_iteration;
  int probes = 0;
  for (const Step& step : steps) {
    if (!step.abort_above) continue;
    ++probes;
    EXPECT_LT(*step.abort_above / usual, 1.2);
    EXPECT_LT(step.abort_after, 1000);
  }
  EXPECT_GT(probes, 3);
}

TEST(HypermilePolicy, TakesADefaultThatItDidNotAskFor) {
  SyntheticJob job = clock_job(0.6);
  const auto policy = make_policy("hypermile", job.context).value();
  Random random(3);

  policy->next();
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(policy->take_default(job.window(0, 0.002, random)));

  EXPECT_NE(policy->next().setting, 0U) << "the default is known by now";
}

// From the 200th window on the job's books tell what they are given here.
std::vector<Step> play_accounted(int windows, const JobLoss& loss) {
  SyntheticJob job = clock_job(0.6);
  job.context.job_iterations = 20000;
  const auto policy = make_policy("hypermile", job.context).value();
  Random random(3);
  std::vector<Step> steps;
  for (int i = 0; i < windows; ++i) {
    if (i >= 200) policy->account(loss);
    steps.push_back(policy->next());
    Window window = job.window(steps.back().setting, 0.002, random);
    window.first_iteration = 30.0 * i;
    policy->observe(window);
  }
  return steps;
}

std::size_t kept_with(double done, double lost) {
  return play_accounted(400, {.job = 20000, .done = done, .lost = lost}).back().setting;
}

// Most of a job passes while nothing is measured: what it may still lose is for what is left of it.
TEST(HypermilePolicy, SpreadsWhatMayBeLostOverWhatIsLeftOfTheJob) {
  const std::size_t early = kept_with(6000, 0.04 * 16000);
  const std::size_t late = kept_with(16000, 0.04 * 16000);

  EXPECT_GT(late, early) << "a lower clock: there is less to spread it over";
  EXPECT_LT(clock_job(0.6).slowdown(late), 0.05);
}

TEST(HypermilePolicy, MeasuresTheDefaultAgainInASlowMinute) {
  SyntheticJob job = clock_job(0.3);
  job.context.job_iterations = 20000;

  const auto steps = play_changed(job, 60, [](int number, std::size_t, Window& window) {
    if (number >= 5) window.time_per_iteration = *window.time_per_iteration * 1.05;
  });

  const auto again =
      std::ranges::find(steps.begin() + 5, steps.end(), std::size_t{0}, &Step::setting);
  EXPECT_LT(again - steps.begin(), 12) << "before all probes are taken for too slow";
  EXPECT_GT(job.slowdown(steps.back().setting), 0.02) << "it is not left near the default";
}

// By a default that was measured in a slow minute what is held looks better than it is.
TEST(HypermilePolicy, MeasuresTheDefaultAgainOnceASlowMinuteMayBeOver) {
  SyntheticJob job = clock_job(0.3);
  job.context.job_iterations = 50000;
  job.context.drift_iterations = 900;  // thirty windows

  const auto steps = play_changed(job, 200, [&](int number, std::size_t, Window& window) {
    if (number >= 100) window.time_per_iteration = *window.time_per_iteration * 1.04;
  });

  const auto again = [&](std::ptrdiff_t from) {
    return std::ranges::find(steps.begin() + from, steps.end(), std::size_t{0}, &Step::setting) -
           steps.begin();
  };
  const std::ptrdiff_t first = again(100);
  const std::ptrdiff_t left =
      std::ranges::find_if(steps.begin() + first, steps.end(),
                           [](const Step& step) { return step.setting != 0; }) -
      steps.begin();
  EXPECT_LT(again(left) - left, 15) << "of what is held";
}

TEST(HypermilePolicy, HoldsNothingOnceTheJobHasLostAllThatItMay) {
  const auto steps = play_accounted(300, {.job = 20000, .lost = 0.05 * 20000});

  EXPECT_NE(steps[199].setting, 0U);
  EXPECT_EQ(steps.back().setting, 0U);
}

}  // namespace
}  // namespace hypermile
