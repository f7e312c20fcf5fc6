// SPDX-License-Identifier: Apache-2.0
#include "record/thinned_series.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hypermile {
namespace {

TEST(ThinnedSeries, KeepsEveryValueWhileTheyAreFew) {
  ThinnedSeries series(10);

  for (int i = 0; i < 5; ++i) series.add(i, 100 + i);

  ASSERT_EQ(series.buckets().size(), 5u);
  EXPECT_EQ(series.buckets()[3].mean(), 103);
  EXPECT_EQ(series.buckets()[3].time_s(), 3);
}

TEST(ThinnedSeries, StaysWithinItsSpaceAndLosesNoSpikeOverADay) {
  ThinnedSeries series(1500);

  for (int i = 0; i < 86400; ++i) series.add(i, i == 40000 ? 999 : (i == 50000 ? 1 : 300));

  EXPECT_LE(series.buckets().size(), 1500u);
  EXPECT_GT(series.buckets().size(), 700u);
  double low = 1e9, high = 0, count = 0;
  for (const auto& bucket : series.buckets()) {
    low = std::min(low, bucket.low);
    high = std::max(high, bucket.high);
    count += static_cast<double>(bucket.count);
  }
  EXPECT_EQ(low, 1);
  EXPECT_EQ(high, 999);
  EXPECT_EQ(count, 86400);
}

TEST(ThinnedSeries, PassesOverWhatIsNoNumberAndTakesATimeThatGoesBackAsNow) {
  ThinnedSeries series(10);

  series.add(5, 1);
  series.add(6, std::nan(""));
  series.add(std::numeric_limits<double>::infinity(), 2);
  series.add(2, 3);

  ASSERT_EQ(series.buckets().size(), 1u);
  EXPECT_EQ(series.buckets()[0].high, 3);
  EXPECT_EQ(series.buckets()[0].last_s, 5);
}

}  // namespace
}  // namespace hypermile
