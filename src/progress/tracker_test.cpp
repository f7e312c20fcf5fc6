// SPDX-License-Identifier: Apache-2.0
#include "progress/tracker.h"

#include <gtest/gtest.h>

#include <numeric>

namespace hypermile {
namespace {

constexpr KernelNumber kLength = 40;

// Kernels 1 to 40, once each; kernel 1 opens an iteration.
Reference plain() {
  Reference reference;
  reference.anchor = {1, 0, false};
  for (KernelNumber k = 1; k <= kLength; ++k) reference.counts.push_back({k, 1});
  for (KernelNumber k = 2; k <= kLength; k += 3) reference.witnesses.push_back(k);
  reference.similarity = 1;
  reference.quality = 1;
  reference.shortest = kLength;
  reference.longest = kLength;
  return reference;
}

class Following : public ::testing::Test {
 protected:
  Following() { tracker_.start(plain()); }

  // Adds a launch; true while the pattern is not broken.
  bool add(KernelNumber kernel) {
    const auto outcome = tracker_.add(launch_++, previous_, kernel);
    previous_ = kernel;
    if (outcome == Tracker::Outcome::kBoundary) iterations_ += tracker_.iterations();
    return outcome != Tracker::Outcome::kBroken;
  }
  bool add_iteration(KernelNumber without = 0) {
    for (KernelNumber k = 1; k <= kLength; ++k) {
      if (k != without && !add(k)) return false;
    }
    return true;
  }

  Tracker tracker_;
  std::uint64_t launch_ = 0;
  KernelNumber previous_ = 0;
  unsigned iterations_ = 0;
};

TEST_F(Following, CountsIterations) {
  for (int i = 0; i < 11; ++i) ASSERT_TRUE(add_iteration());

  EXPECT_EQ(iterations_, 10U);
  EXPECT_EQ(tracker_.segments(), 10U);
  EXPECT_NEAR(tracker_.mean_gap(), kLength, 1e-9);
  EXPECT_NEAR(tracker_.gap_cv(), 0, 1e-9);
}

TEST_F(Following, MissedAnchorCountsTwoIterations) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(add_iteration());
  ASSERT_TRUE(add_iteration(1));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(add_iteration());

  EXPECT_EQ(iterations_, 10U);
}

TEST_F(Following, StrayAnchorIsIgnored) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(add_iteration());
  for (KernelNumber k = 1; k <= kLength; ++k) {
    ASSERT_TRUE(add(k));
    if (k == 10 || k == 25) {
      ASSERT_TRUE(add(1));
    }
  }
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(add_iteration());

  EXPECT_EQ(iterations_, 10U);
}

TEST_F(Following, OtherWorkBreaksThePatternWithinTwoIterations) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(add_iteration());

  std::uint64_t more = 0;
  while (more < 1000 && add(static_cast<KernelNumber>(100 + more % 7))) ++more;

  EXPECT_LE(more, 2U * kLength + 64);
  EXPECT_EQ(tracker_.first_bad(), 4U * kLength) << "the break began with the open iteration";
}

TEST_F(Following, ShorterLoopOfTheSameKernelsBreaksByOrder) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(add_iteration());

  int loops = 0;
  bool going = true;
  while (going && loops < 20) {
    for (KernelNumber k = 1; k <= kLength / 3 && going; ++k) going = add(k);
    ++loops;
  }

  EXPECT_LE(loops, 4);
}

TEST_F(Following, PauseWithoutLaunchesIsNoBreakAndSlowDriftIsLearnt) {
  // One kernel replaces another for good: first this is an event, later it is usual.
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(add_iteration(7));
    ASSERT_TRUE(add(200));
  }

  const Reference learnt = tracker_.learnt(plain());
  const auto find = [&](KernelNumber kernel) {
    for (const KernelCount& each : learnt.counts) {
      if (each.kernel == kernel) return each.count;
    }
    return 0.0F;
  };
  EXPECT_NEAR(find(200), 1, 0.05);
  EXPECT_NEAR(find(7), 0, 0.05);
  EXPECT_TRUE(tracker_.events().empty());
}

// Kernel 1 opens a round, 2 to 9 come in constant numbers, and 10 as often as it likes.
TEST(FollowingRounds, CountsEachHoweverLongItIs) {
  Reference rounds;
  rounds.anchor = {1, 0, false};
  rounds.counts.push_back({1, 1});
  for (KernelNumber k = 2; k <= 9; ++k) {
    rounds.counts.push_back({k, 32});
    rounds.witnesses.push_back(k);
  }
  rounds.counts.push_back({10, 1000});
  rounds.similarity = 1;
  rounds.quality = 0.8;
  rounds.longest = 2000;
  rounds.elastic = true;
  Tracker tracker;
  tracker.start(rounds);
  std::uint64_t launches = 0;
  unsigned counted = 0;
  const auto add = [&](KernelNumber kernel) {
    const auto outcome = tracker.add(launches++, 0, kernel);
    ASSERT_NE(outcome, Tracker::Outcome::kBroken);
    if (outcome == Tracker::Outcome::kBoundary) counted += tracker.iterations();
    EXPECT_FALSE(tracker.doubtful());
  };

  for (const int steps : {1000, 100, 1700, 200, 900}) {
    add(1);
    for (int step = 0; step < steps; ++step) add(10);
    // A launch of the anchor's kernel inside a round opens none.
    add(1);
    for (int update = 0; update < 32; ++update) {
      for (KernelNumber k = 2; k <= 9; ++k) add(k);
    }
  }

  EXPECT_EQ(counted, 4U);
}

TEST_F(Following, ReportsUnusualCounts) {
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(add_iteration());
  ASSERT_TRUE(add(300));
  ASSERT_TRUE(add(300));
  ASSERT_TRUE(add(1));

  ASSERT_EQ(tracker_.events().size(), 1U);
  EXPECT_EQ(tracker_.events()[0].kernel, 300);
  EXPECT_TRUE(tracker_.events()[0].more);
  EXPECT_EQ(tracker_.events()[0].by, 2U);
}

}  // namespace
}  // namespace hypermile
