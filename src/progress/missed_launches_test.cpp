// SPDX-License-Identifier: Apache-2.0
//
// The detector when launches were not watched for a while.
#include <gtest/gtest.h>

#include "evidence/progress/detector_trial.h"
#include "evidence/progress/made_streams.h"
#include "evidence/progress/stream_edits.h"

namespace hypermile {
namespace {

LabelledStream network(std::size_t iterations, std::size_t layers = 4) {
  Random random(3);
  return make_transformer({.layers = layers,
                           .optimizer_launches = 6,
                           .forward = milliseconds(5),
                           .backward = milliseconds(10),
                           .iterations = iterations},
                          random);
}

class MissedLaunches : public ::testing::Test {
 protected:
  // Gives the detector the launches [from, to), and says that those before were missed.
  void watch(const LabelledStream& stream, std::uint64_t from, std::uint64_t to) {
    if (from > 0) detector_.missed(stream.launches[from].time);
    for (std::uint64_t i = from; i < to; ++i) {
      detector_.add(stream.launches[i]);
      detector_.analyse_if_due();
    }
  }
  double counted(std::size_t from = 0) const {
    double sum = 0;
    for (std::size_t i = from; i < told_.boundaries.size(); ++i) {
      sum += told_.boundaries[i].iterations;
    }
    return sum;
  }

  DetectorTrace told_;
  LaunchDetector detector_{told_};
};

TEST_F(MissedLaunches, AreNotCountedAndDoNotBreakThePattern) {
  const LabelledStream stream = network(1000);
  const auto per_iteration = static_cast<std::uint64_t>(stream.launches_per_iteration());
  watch(stream, 0, 200 * per_iteration);
  ASSERT_EQ(told_.locks.size(), 1U);
  double expected = counted();

  // Watches a little more than five iterations at a time, from any place in an iteration.
  Random random(5);
  for (std::uint64_t i = 200; i < 990; i += 10) {
    const std::size_t before = told_.boundaries.size();
    const std::uint64_t from = i * per_iteration + random.bits() % per_iteration;
    watch(stream, from, from + 5 * per_iteration + per_iteration / 2);
    ASSERT_GT(told_.boundaries.size(), before);
    EXPECT_EQ(told_.boundaries[before].iterations, 0)
        << "the first boundary after a gap ends no iteration";
    EXPECT_GE(counted(before), 4);
    EXPECT_LE(counted(before), 5);
    expected += counted(before);
  }

  EXPECT_TRUE(told_.breaks.empty());
  EXPECT_EQ(told_.locks.size(), 1U);
  EXPECT_EQ(counted(), expected);
}

TEST_F(MissedLaunches, LeaveOuterLevelsKnown) {
  const LabelledStream stream = with_accumulation(network(2000), 8);
  const auto at = [&](std::size_t iteration) { return stream.starts[iteration] + 11; };
  watch(stream, 0, at(400));
  ASSERT_EQ(detector_.pattern().value().outer.size(), 1U);
  ASSERT_EQ(detector_.pattern()->outer[0].inner, 8U);

  for (std::size_t i = 400; i + 60 < stream.starts.size(); i += 53) watch(stream, at(i), at(i + 5));

  ASSERT_EQ(detector_.pattern().value().outer.size(), 1U);
  EXPECT_EQ(detector_.pattern()->outer[0].inner, 8U);
}

TEST_F(MissedLaunches, ThatHideASwitchAreFollowedByAReportOfIt) {
  const PhasedStream phased = with_evaluation(network(1200, 12), 300, 300, 0.34);
  const LabelledStream& stream = phased.stream;
  watch(stream, 0, phased.switches.at(0) - 400);
  ASSERT_EQ(told_.locks.size(), 1U);
  ASSERT_TRUE(told_.breaks.empty());

  const std::uint64_t from = phased.switches[0] + 777;
  watch(stream, from, from + 20'000);

  ASSERT_GE(told_.breaks.size(), 1U);
  EXPECT_GE(told_.breaks[0].since, stream.launches[from].time);
  const Seconds after = told_.breaks[0].time - stream.launches[from].time;
  EXPECT_LE(after, milliseconds(100));
}

TEST_F(MissedLaunches, RestartASearch) {
  const LabelledStream stream = network(100);
  watch(stream, 0, 100);
  ASSERT_EQ(detector_.state() == DetectorState::kLocked, false);

  watch(stream, 5000, stream.launches.size());

  ASSERT_EQ(told_.locks.size(), 1U);
  EXPECT_NEAR(told_.locks[0].pattern.launches_per_iteration, stream.launches_per_iteration(), 1);
}

TEST_F(MissedLaunches, AreNotReportedAsAPause) {
  const LabelledStream stream = network(100);
  watch(stream, 0, stream.launches.size());
  const Instant end = stream.launches.back().time;

  detector_.missed(end + Seconds(30));
  detector_.check_idle(end + Seconds(31), end);
  EXPECT_TRUE(told_.idles.empty());
  detector_.check_idle(end + Seconds(36), end);

  ASSERT_EQ(told_.idles.size(), 1U);
  EXPECT_EQ(told_.idles[0], end + Seconds(30));
}

}  // namespace
}  // namespace hypermile
