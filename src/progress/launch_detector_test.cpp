// SPDX-License-Identifier: Apache-2.0
//
// What the detector reports and answers, on synthetic streams.
#include "progress/launch_detector.h"

#include <gtest/gtest.h>

#include "evidence/progress/detector_trial.h"
#include "evidence/progress/made_streams.h"

namespace hypermile {
namespace {

LabelledStream small_network(std::size_t iterations) {
  Random random(1);
  return make_transformer({.layers = 4,
                           .optimizer_launches = 6,
                           .forward = milliseconds(5),
                           .backward = milliseconds(10),
                           .iterations = iterations},
                          random);
}

TEST(LaunchDetector, PassesThroughItsStates) {
  DetectorTrace told;
  LaunchDetector detector(told);
  const LabelledStream stream = small_network(100);
  EXPECT_EQ(detector.state(), DetectorState::kSearch);
  EXPECT_EQ(detector.confidence(), 0);
  EXPECT_FALSE(detector.pattern().has_value());

  bool tentative = false;
  std::size_t i = 0;
  for (; detector.state() != DetectorState::kLocked && i < stream.launches.size(); ++i) {
    detector.add(stream.launches[i]);
    detector.analyse_if_due();
    if (detector.state() == DetectorState::kTentative) {
      tentative = true;
      EXPECT_LE(detector.confidence(), 0.3);
      EXPECT_TRUE(told.boundaries.empty());
    }
  }

  EXPECT_TRUE(tentative);
  ASSERT_EQ(told.locks.size(), 1U);
  EXPECT_EQ(told.locks[0].lock.launch, i - 1);
  EXPECT_FALSE(told.locks[0].lock.known);
  EXPECT_NEAR(told.locks[0].pattern.launches_per_iteration, stream.launches_per_iteration(), 1);
  EXPECT_GT(detector.confidence(), 0.9);
  ASSERT_TRUE(detector.pattern().has_value());
  EXPECT_EQ(detector.pattern()->anchor, told.locks[0].pattern.anchor);
  ASSERT_EQ(detector.phases().size(), 1U);
  EXPECT_EQ(detector.launches(), i);
}

TEST(LaunchDetector, ReportsBoundariesWhereItsAnchorIsLaunched) {
  const LabelledStream stream = small_network(100);

  const DetectorTrace told = trace(stream, 0);

  ASSERT_EQ(told.locks.size(), 1U);
  const Anchor anchor = told.locks[0].pattern.anchor;
  for (const Boundary& boundary : told.boundaries) {
    EXPECT_EQ(stream.launches[boundary.launch].kernel, anchor.kernel);
    EXPECT_EQ(stream.launches[boundary.launch].time, boundary.time);
    if (anchor.previous) {
      EXPECT_EQ(stream.launches[boundary.launch - 1].kernel, *anchor.previous);
    }
    EXPECT_FALSE(boundary.gpu_time.has_value());
  }
}

TEST(LaunchDetector, GivesTheSameAnswerHoweverRarelyItAnalyses) {
  const LabelledStream stream = small_network(200);
  for (const std::size_t batch : {1U, 37U, 500U}) {
    DetectorTrace told;
    LaunchDetector detector(told);
    for (std::size_t i = 0; i < stream.launches.size(); ++i) {
      detector.add(stream.launches[i]);
      if (i % batch == 0) detector.analyse_if_due();
    }

    ASSERT_EQ(told.locks.size(), 1U) << batch;
    EXPECT_TRUE(told.breaks.empty());
    // The boundaries that led to the lock are reported, however late the analysis ran.
    EXPECT_GE(told.boundaries.size(), 180U) << batch;
  }
}

TEST(LaunchDetector, ReportsAPauseOnceAndKeepsThePattern) {
  DetectorTrace told;
  LaunchDetector detector(told);
  const LabelledStream stream = small_network(100);
  detector.add_all(stream.launches);
  const Instant last = stream.launches.back().time;

  detector.check_idle(last + Seconds(4.9), last);
  EXPECT_TRUE(told.idles.empty());
  detector.check_idle(last + Seconds(5.1), last);
  detector.check_idle(last + Seconds(60), last);

  ASSERT_EQ(told.idles.size(), 1U);
  EXPECT_EQ(told.idles[0], last);
  EXPECT_EQ(detector.state(), DetectorState::kLocked);
}

// Eight micro-batches at once, then a wait for the GPU.
TEST(LaunchDetector, AHostThatWaitsForEveryOptimizerStepIsNotIdle) {
  DetectorTrace told;
  LaunchDetector detector(told);
  Launch launch;
  const auto step = [&](Seconds wait) {
    for (std::uint32_t i = 0; i < 8 * 40; ++i) {
      launch.kernel = 100 + i % 40;
      launch.time = launch.time + microseconds(6);
      detector.add(launch);
      detector.analyse_if_due();
    }
    launch.time = launch.time + wait;
  };
  for (int i = 0; i < 20; ++i) step(Seconds(4));
  ASSERT_EQ(detector.state(), DetectorState::kLocked);
  const Instant last = launch.time - Seconds(4);

  detector.check_idle(last + Seconds(13), last);  // a lower clock takes three times as long
  EXPECT_TRUE(told.idles.empty());
  detector.check_idle(last + Seconds(30), last);
  EXPECT_EQ(told.idles.size(), 1U);
}

TEST(LaunchDetector, LaunchesThatWereReadLateAreNoPause) {
  DetectorTrace told;
  LaunchDetector detector(told);
  const LabelledStream stream = small_network(100);
  detector.add_all(stream.launches);
  const Instant last = stream.launches.back().time;

  detector.check_idle(last + Seconds(9), last + Seconds(8));

  EXPECT_TRUE(told.idles.empty());
}

TEST(LaunchDetector, ResumesAfterAPauseWithoutABreak) {
  DetectorTrace told;
  LaunchDetector detector(told);
  const LabelledStream stream = small_network(100);
  detector.add_all(stream.launches);
  const std::size_t before = told.boundaries.size();
  const Seconds pause(120);

  for (Launch launch : stream.launches) {
    launch.time = launch.time + (stream.launches.back().time - Instant()) + pause;
    detector.add(launch);
    detector.analyse_if_due();
  }

  EXPECT_TRUE(told.breaks.empty());
  EXPECT_EQ(told.locks.size(), 1U);
  EXPECT_NEAR(static_cast<double>(told.boundaries.size() - before), 100, 1);
}

TEST(LaunchDetector, DoesNotLockWhileAModelIsBuilt) {
  DetectorTrace told;
  LaunchDetector detector(told);
  Launch launch;
  const auto fill_weights = [&](int layers) {
    for (int i = 0; i < layers; ++i) {
      launch.kernel = i % 20 == 19 ? 8001 : 8000;
      launch.time = launch.time + milliseconds(1.5);
      detector.add(launch);
      detector.analyse_if_due();
    }
  };
  fill_weights(40);
  launch.time = launch.time + Seconds(3.5);
  fill_weights(30);
  const Seconds offset = launch.time - Instant();

  for (Launch each : small_network(100).launches) {
    each.time = each.time + offset;
    detector.add(each);
    detector.analyse_if_due();
  }

  ASSERT_EQ(told.locks.size(), 1U);
  EXPECT_NEAR(told.locks[0].pattern.launches_per_iteration,
              small_network(100).launches_per_iteration(), 1);
}

TEST(LaunchDetector, LocksAfterHoursOfSomethingElse) {
  DetectorTrace told;
  LaunchDetector detector(told);
  Random random(9);
  LabelledStream other = aperiodic_kinds()[3].make(Seconds(8), random);
  const Seconds offset = other.launches.back().time - Instant();
  detector.add_all(other.launches);
  ASSERT_TRUE(told.locks.empty());

  const LabelledStream stream = small_network(1500);
  for (Launch launch : stream.launches) {
    launch.kernel += 5000;
    launch.time = launch.time + offset;
    detector.add(launch);
    detector.analyse_if_due();
  }

  ASSERT_EQ(told.locks.size(), 1U);
  EXPECT_NEAR(told.locks[0].pattern.launches_per_iteration, stream.launches_per_iteration(), 1);
}

}  // namespace
}  // namespace hypermile
