// SPDX-License-Identifier: Apache-2.0
//
// Acceptance limits of the launch detector on whole recordings that are not part of the repository
// (HYPERMILE_H200_DATA, or ../shared/data/h200 beside the source tree). Skipped if they are absent.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "evidence/progress/detector_trial.h"
#include "progress/period.h"

namespace hypermile {
namespace {

constexpr std::size_t kStarts = 40;

class Recordings : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string folder = recordings_folder();
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no recordings at " << folder;
    auto loaded = load_recording(folder, GetParam());
    ASSERT_TRUE(loaded.ok()) << loaded.error().line();
    stream_ = *std::move(loaded);
  }
  LabelledStream stream_;
};

TEST_P(Recordings, LockIsRightInTimeAndKeptFromEveryStart) {
  Random random(1);

  const std::vector<DetectorTrial> trials = try_starts(stream_, kStarts, random);

  std::vector<double> after;
  for (const DetectorTrial& trial : trials) {
    ASSERT_TRUE(trial.lock_after.has_value());
    EXPECT_FALSE(trial.wrong) << trial.ratio_at_lock << " " << trial.worst_count;
    EXPECT_EQ(trial.relevels, 0U);
    EXPECT_EQ(trial.breaks, 0U);
    EXPECT_LE(std::abs(trial.worst_count), 2);
    EXPECT_TRUE(trial.level_right);
    if (stream_.inner > 1) {
      EXPECT_LE(trial.level_after.value_or(99), 6);
    }
    after.push_back(trial.lock_after->value());
  }
  std::ranges::sort(after);
  const double p90 = after[after.size() * 9 / 10];
  EXPECT_LE(p90, std::max(0.65, 10 * stream_.mean_period().value()));
}

TEST_P(Recordings, PeriodOverTheWholeIsThatOfTheGpu) {
  std::vector<Boundary> truth;
  for (const Instant begin : stream_.gpu_begins) {
    truth.push_back({.pattern = {},
                     .time = begin,
                     .gpu_time = begin - Instant(),
                     .launch = 0,
                     .iterations = static_cast<double>(stream_.inner),
                     .confidence = 1});
  }

  const auto period = estimate_period(trace(stream_, 0).boundaries);
  const auto wanted = estimate_period(truth);

  ASSERT_TRUE(period.ok()) << period.error().line();
  ASSERT_TRUE(wanted.ok()) << wanted.error().line();
  EXPECT_NEAR(period->per_iteration / wanted->per_iteration, 1, 0.002);
}

INSTANTIATE_TEST_SUITE_P(H200, Recordings, ::testing::ValuesIn(recording_names()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace hypermile
