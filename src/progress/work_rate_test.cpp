// SPDX-License-Identifier: Apache-2.0
#include "progress/work_rate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "base/statistics.h"

namespace hypermile {
namespace {

Launch launch_at(double seconds, std::uint32_t kernel, std::uint32_t blocks = 0) {
  return {Instant() + Seconds(seconds), kernel, blocks, 0};
}

// Adds launches at random times with this rate, of kernels below `kinds`.
double poisson(WorkRate& rate, double from, double to, double per_second, std::uint32_t kinds,
               Random& random) {
  double now = from;
  for (;;) {
    now -= std::log(1 - random.uniform()) / per_second;
    if (now >= to) return now;
    rate.add(launch_at(now, static_cast<std::uint32_t>(random.bits() % kinds), 4));
  }
}

TEST(WorkRate, IsTheSlopeWithAnErrorThatCoversTheTruth) {
  Random random(1);
  int covered = 0;
  constexpr int kTimes = 300;
  for (int i = 0; i < kTimes; ++i) {
    WorkRate rate;
    poisson(rate, 0, 5, 2000, 30, random);

    const auto estimate = rate.estimate(Instant() + Seconds(5));

    ASSERT_TRUE(estimate.ok()) << estimate.error().line();
    EXPECT_NEAR(estimate->launches.per_second, 2000, 200);
    const double off = std::abs(estimate->launches.per_second - 2000);
    if (off < normal_half_width95() * estimate->launches.standard_error) ++covered;
  }
  EXPECT_GE(covered, 0.90 * kTimes);
}

TEST(WorkRate, SeesASlowdown) {
  Random random(2);
  WorkRate rate;
  poisson(rate, 0, 4, 5000, 20, random);
  const auto before = rate.estimate(Instant() + Seconds(4));
  rate.restart();
  poisson(rate, 4, 8.1, 4500, 20, random);

  const auto after = rate.estimate(Instant() + Seconds(8.1));

  ASSERT_TRUE(before.ok() && after.ok());
  EXPECT_NEAR(after->launches.per_second / before->launches.per_second, 0.9, 0.03);
}

TEST(WorkRate, RefusesWhenTheMixtureChanges) {
  Random random(3);
  WorkRate rate;
  poisson(rate, 0, 2, 3000, 10, random);
  for (double now = 2; now < 4; now += 1.0 / 3000) {
    rate.add(launch_at(now, static_cast<std::uint32_t>(5 + random.bits() % 10), 4));
  }

  const auto estimate = rate.estimate(Instant() + Seconds(4));

  ASSERT_FALSE(estimate.ok());
  EXPECT_EQ(estimate.error().code, ErrorCode::kNotReady);
  EXPECT_NE(estimate.error().message.find("mixture"), std::string::npos);
}

TEST(WorkRate, RefusesUntilHalfAWindowIsSeenAndWithoutLaunches) {
  Random random(4);
  WorkRate rate;
  EXPECT_FALSE(rate.estimate(Instant() + Seconds(10)).ok());
  poisson(rate, 0, 1, 3000, 10, random);
  EXPECT_FALSE(rate.estimate(Instant() + Seconds(1)).ok());
  EXPECT_FALSE(rate.estimate(Instant() + Seconds(100)).ok());
}

TEST(WorkRate, CountsBlocksOnlyIfEveryLaunchReportsThem) {
  Random random(5);
  WorkRate rate;
  poisson(rate, 0, 4.5, 1000, 10, random);
  const auto with = rate.estimate(Instant() + Seconds(4.5));
  rate.add(launch_at(4.51, 1));
  poisson(rate, 4.51, 5, 1000, 10, random);

  const auto without = rate.estimate(Instant() + Seconds(5));

  ASSERT_TRUE(with.ok() && without.ok());
  ASSERT_TRUE(with->blocks.has_value());
  EXPECT_NEAR(with->blocks->per_second, 4 * with->launches.per_second, 1);
  EXPECT_FALSE(without->blocks.has_value());
}

TEST(WorkRate, AcceptsAnyTimes) {
  WorkRate rate;
  for (const std::int64_t ns : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1},
                                std::int64_t{0}, std::numeric_limits<std::int64_t>::max()}) {
    rate.add({Instant::from_nanoseconds(ns), 1, 1, 1});
    EXPECT_FALSE(rate.estimate(Instant::from_nanoseconds(ns)).ok());
  }
}

}  // namespace
}  // namespace hypermile
