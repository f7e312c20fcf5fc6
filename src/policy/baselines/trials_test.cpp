// SPDX-License-Identifier: Apache-2.0
#include "policy/baselines/trials.h"

#include <gtest/gtest.h>

#include <cmath>

#include "policy/baselines/probed.h"

namespace hypermile {
namespace {

Window window(double time, double power) {
  Window w;
  w.time_per_iteration = Seconds(time);
  w.power = Watts(power);
  return w;
}

TEST(Measured, RefusesWindowsThatNoDecisionCanRestOn) {
  Window marked = window(0.1, 200);
  marked.unusable = "evaluation";

  EXPECT_TRUE(measured(window(0.1, 200)));
  EXPECT_FALSE(measured(marked));
  EXPECT_FALSE(measured(Window{}));
  for (const double bad : {0.0, -1.0, std::nan(""), double{INFINITY}, 1e-300, 1e300}) {
    EXPECT_FALSE(measured(window(bad, 200))) << bad;
    EXPECT_FALSE(measured(window(0.1, bad))) << bad;
  }
}

TEST(Trials, AsksForWhatIsMissingAndReplaysWhatIsNot) {
  Trials trials;
  EXPECT_FALSE(trials.measure(3, "first"));
  EXPECT_EQ(trials.wanted(), 3U);
  EXPECT_EQ(trials.reason(), "first");

  trials.add({Seconds(0.1), Watts(200)});
  trials.restart();

  EXPECT_DOUBLE_EQ(trials.measure(3, "first")->time.value(), 0.1);
  EXPECT_FALSE(trials.measure(4, "second"));
  EXPECT_EQ(trials.wanted(), 4U);
}

TEST(Trials, AveragesSeveralWindowsAndWaitsForAllOfThem) {
  Trials trials;
  trials.add({Seconds(0.1), Watts(200)});
  EXPECT_FALSE(trials.measure(0, 2, "baseline"));

  trials.add({Seconds(0.3), Watts(100)});
  trials.restart();
  const auto mean = trials.measure(0, 2, "baseline");

  EXPECT_DOUBLE_EQ(mean->time.value(), 0.2);
  EXPECT_DOUBLE_EQ(mean->power.value(), 150);
}

TEST(Probed, MeasuresASettingOnce) {
  Trials trials;
  trials.add({Seconds(0.1), Watts(200)});
  Probed probed(trials);

  EXPECT_TRUE(probed.at(5, "probe"));
  EXPECT_TRUE(probed.at(5, "probe"));
  EXPECT_FALSE(probed.at(6, "probe"));
}

TEST(BestWithin, PrefersTheDefaultToAnythingSlowerOrNoBetter) {
  const TrialReference reference(Objective{}, {Seconds(1), Watts(100)});
  const std::vector<Trial> trials = {{1, {Seconds(1.04), Watts(98)}},   // dearer
                                     {2, {Seconds(1.20), Watts(50)}}};  // too slow

  EXPECT_EQ(best_within(reference, trials, 0.05), 0U);
  EXPECT_EQ(best_within(reference, trials, std::nullopt), 2U);
}

}  // namespace
}  // namespace hypermile
