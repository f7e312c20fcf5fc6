// SPDX-License-Identifier: Apache-2.0
#include "policy/pace_track.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace hypermile {
namespace {

constexpr double kIterations = 30;

// A job whose windows are played into a track, each over as many iterations.
class PlayedJob {
 public:
  explicit PlayedJob(double noise) : noise_(noise) {}

  void run(std::size_t setting, double value, double windows = 1,
           const std::optional<ExpectedLook>& expected = {}) {
    at_ += windows;
    track.add(setting, at_ - windows / 2, windows, value, noise_, expected);
    if (setting != 0) track.ran(setting, windows * kIterations);
  }

  PaceTrack track;

 private:
  double noise_;
  double at_ = 0;
};

TEST(PaceTrack, AveragesTheWindowsOfASteadyJob) {
  PlayedJob job(0.01);
  Random random(3);
  for (int i = 0; i < 20; ++i) {
    job.run(0, 0.01 * random.gaussian());
    job.run(1, 0.05 + 0.01 * random.gaussian());
  }
  const double sure = 0.01 / std::sqrt(20);

  EXPECT_NEAR(job.track.level(), 0, 3 * sure);
  EXPECT_NEAR(*job.track.offset(1), 0.05, 3 * std::sqrt(2) * sure);
  EXPECT_NEAR(std::sqrt(job.track.variance()) / (20 * kIterations), std::sqrt(2) * sure,
              0.3 * sure);
}

TEST(PaceTrack, TellsASlowMinuteFromALoss) {
  PlayedJob job(0.001);
  // The job is 5 % slower for a while, in which the default is never seen.
  for (int i = 0; i < 5; ++i) {
    job.run(0, 0);
    for (int k = 0; k < 20; ++k) job.run(1, 0.04 + (i == 2 && k > 4 && k < 15 ? 0.05 : 0));
  }
  job.run(0, 0);

  EXPECT_NEAR(*job.track.offset(1), 0.04, 0.002);
  EXPECT_NEAR(job.track.lost() / (100 * kIterations), std::expm1(0.04), 0.003);
}

// Slow minutes begin and end while the setting changes, more often beside the default than not: an
// account that takes this for a faster setting lets the job exceed its bound.
// After ten windows of the default at a level, and a first one at a Setting.
PaceTrack after_a_look(double level, double seen, const ExpectedLook& expected) {
  PlayedJob job(0.001);
  for (int i = 0; i < 10; ++i) job.run(0, level);
  job.run(1, seen, 1, expected);
  return job.track;
}

// A first look cannot tell the setting from the minute; what other settings say of this one can.
TEST(PaceTrack, TakesAFirstLookThatSurprisesForTheEndOfASlowMinute) {
  const PaceTrack track = after_a_look(0.06, 0.10, {.log_time = 0.10, .sd = 0.003});

  EXPECT_NEAR(*track.offset(1), 0.10, 0.01);
  EXPECT_NEAR(track.level(), 0, 0.01);
}

TEST(PaceTrack, TakesALookThatSeemsFasterThanTheDefaultForTheJobsOwnPace) {
  const PaceTrack track = after_a_look(0.7, 0.05, {.log_time = 0.06, .sd = 0.02});

  EXPECT_NEAR(*track.offset(1), 0.05, 0.02);
  EXPECT_NEAR(track.level(), 0, 0.02);
}

TEST(PaceTrack, BelievesAFirstLookThatIsSlowerThanExpected) {
  for (const double slower : {0.01, 0.05, 0.7}) {
    const PaceTrack track = after_a_look(0, 0.05 + slower, {.log_time = 0.05, .sd = 0.003});

    EXPECT_NEAR(*track.offset(1), 0.05 + slower, 0.005);
    EXPECT_NEAR(track.level(), 0, 0.005);
  }
}

TEST(PaceTrack, TakesMinutesThatBeginAndEndAbruptlyForTheJobsOwn) {
  PlayedJob job(0.002);
  Random random(5);
  const auto noise = [&] { return 0.002 * random.gaussian(); };
  for (int i = 0; i < 12; ++i) {
    const double slow = i % 3 == 1 ? 0.03 : 0;
    job.run(0, slow + noise());
    for (int k = 0; k < 5; ++k) job.run(1, (i % 3 == 1 && k < 1 ? 0 : slow) + 0.05 + noise());
  }
  const double sd = std::sqrt(job.track.variance()) / (60 * kIterations);

  EXPECT_NEAR(job.track.lost() / (60 * kIterations), std::expm1(0.05), 0.004);
  EXPECT_LT(sd, 0.004);
}

TEST(PaceTrack, FollowsADefaultThatHeatSlowsDownWhileALowerClockIsNotHeldBack) {
  PlayedJob job(0.001);
  double lost = 0;
  for (int i = 0; i < 20; ++i) {
    const double heat = 0.001 * i;
    job.run(0, heat);
    for (int k = 0; k < 10; ++k) job.run(1, 0.05);
    lost += 10 * kIterations * std::expm1(0.05 - heat);
  }

  EXPECT_NEAR(*job.track.offset(1), 0.05 - 0.019, 0.004);
  EXPECT_NEAR(job.track.lost(), lost, 0.1 * lost);
}

TEST(PaceTrack, CorrectsWhatWasLostByWhatItLearnsLater) {
  PlayedJob job(0.01);
  job.run(0, 0.02);  // two standard deviations too slow
  for (int i = 0; i < 10; ++i) job.run(1, 0.05);
  const double first = job.track.lost();
  const double doubt = job.track.variance();
  for (int i = 0; i < 20; ++i) {
    job.run(0, 0);
    job.run(1, 0.05);
  }

  EXPECT_NEAR(first / (10 * kIterations), std::expm1(0.03), 1e-3);
  EXPECT_NEAR(job.track.lost() / (30 * kIterations), std::expm1(0.05), 0.004);
  EXPECT_LT(job.track.variance() / (30 * 30), doubt / (10 * 10));
}

TEST(PaceTrack, IsSurerAfterFurtherWindowsAtTheDefault) {
  PlayedJob job(0.01);
  job.run(0, 0, 2);
  job.run(1, 0.05, 10);
  const double future = 100 * kIterations;

  const double now = job.track.variance_after(0, 0.01, future);
  const double after = job.track.variance_after(2, 0.01, future);
  EXPECT_NEAR(after, now / 2, 0.1 * now);
  EXPECT_LT(job.track.variance_after(8, 0.01, future), after);
}

TEST(PaceTrack, KeepsWhatAForgottenSettingHasLost) {
  PlayedJob job(0.001);
  job.run(0, 0);
  job.run(1, 0.1);
  job.run(2, 0.2);
  const double lost = job.track.lost();
  job.track.forget(1);

  EXPECT_DOUBLE_EQ(job.track.lost(), lost);
  EXPECT_NEAR(*job.track.offset(1), 0.2, 0.01);
  EXPECT_FALSE(job.track.offset(2));
}

TEST(PaceTrack, WaitsForTheDefault) {
  PaceTrack track;
  track.add(1, 0.5, 1, 0.3, 0.01);
  EXPECT_TRUE(track.empty());
  EXPECT_FALSE(track.offset(1));
  EXPECT_EQ(track.lost(), 0);
}

}  // namespace
}  // namespace hypermile
