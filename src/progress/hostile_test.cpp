// SPDX-License-Identifier: Apache-2.0
//
// Whatever a broken or hostile process writes into its ring, the detector does not crash, hang or
// grow, and it recovers when launches make sense again.
#include <gtest/gtest.h>

#include "evidence/progress/detector_trial.h"
#include "evidence/progress/made_streams.h"
#include "progress/recording_summary.h"
#include "testing/hostile_launches.h"

namespace hypermile {
namespace {

struct Detected {
  DetectorTrace trace;
  LaunchDetector detector{trace};
};

TEST(Hostile, ArbitraryLaunchesLeaveTheDetectorSane) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Detected detected;
    Random random(seed);
    const std::size_t before = detected.detector.memory_bytes();
    HostileLaunches launches([&] { return static_cast<unsigned>(random.bits() >> 56); });

    for (int i = 0; i < 20000; ++i) {
      detected.detector.add(launches.next());
      detected.detector.analyse_if_due();
    }

    const double confidence = detected.detector.confidence();
    EXPECT_TRUE(confidence >= 0 && confidence <= 1);
    EXPECT_LE(detected.detector.memory_bytes(), before + (std::size_t{300} << 10));
    for (const Boundary& boundary : detected.trace.boundaries) {
      EXPECT_TRUE(boundary.iterations >= 0 && boundary.iterations <= 3);
    }
  }
}

TEST(Hostile, MillionsOfDistinctKernelsUseNoMoreMemory) {
  Detected detected;

  for (std::uint32_t i = 0; i < 1'000'000; ++i) {
    detected.detector.add({Instant::from_nanoseconds(i * 1000LL), i * 2654435761U, 0, 0});
    if (i % 64 == 0) detected.detector.analyse_if_due();
  }

  EXPECT_LE(detected.detector.memory_bytes(), std::size_t{4} << 20);
  EXPECT_NE(detected.detector.state(), DetectorState::kLocked);
}

// Beyond the table of kernels all share one number, which is then launched all the time.
TEST(Hostile, DifferentKernelsAreNoIterations) {
  std::vector<Launch> launches;
  for (std::uint32_t i = 0; i < 300'000; ++i)
    launches.push_back({Instant::from_nanoseconds(i * 10'000LL), i, 0, 0});

  const RecordingSummary summary = summarize_recording(launches);
  EXPECT_TRUE(summary.levels.empty()) << summary.levels.front().iterations;
  EXPECT_EQ(summary.confidence, 0);

  for (Launch& launch : launches) launch.kernel = kOtherKernel;
  EXPECT_TRUE(summarize_recording(launches).levels.empty()) << "names that found no room in a ring";
}

TEST(Hostile, ClockThatJumpsBackBeginsAnewAndLocksAgain) {
  Detected detected;
  Random random(2);
  const LabelledStream stream = make_graph_loop(5, milliseconds(5), 300, random);

  for (const std::int64_t origin :
       {std::int64_t{0}, std::int64_t{1} << 60, -(std::int64_t{1} << 60)}) {
    for (Launch launch : stream.launches) {
      launch.time = Instant::from_nanoseconds(launch.time.nanoseconds() + origin);
      detected.detector.add(launch);
      detected.detector.analyse_if_due();
    }
    EXPECT_EQ(detected.detector.state(), DetectorState::kLocked);
  }
  EXPECT_EQ(detected.trace.locks.back().pattern.phase, 0U);
}

TEST(Hostile, SameLaunchAtTheSameTimeForeverIsNotAPattern) {
  Detected detected;

  for (int i = 0; i < 300000; ++i) {
    detected.detector.add({});
    detected.detector.analyse_if_due();
  }

  EXPECT_NE(detected.detector.state(), DetectorState::kLocked);
}

TEST(Memory, StaysWithinFourMegabytes) {
  Detected detected;
  Random random(1);
  const LabelledStream stream = make_transformer(
      {.layers = 12, .forward = milliseconds(20), .backward = milliseconds(40), .iterations = 100},
      random);

  detected.detector.add_all(stream.launches);

  EXPECT_EQ(detected.detector.state(), DetectorState::kLocked);
  EXPECT_LE(detected.detector.memory_bytes(), 4'000'000U);
}

}  // namespace
}  // namespace hypermile
