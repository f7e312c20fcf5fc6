// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/turns.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

const GpuUuid kGpu("GPU-1");

class TurnsTest : public ::testing::Test {
 protected:
  static Owner user(std::uint32_t uid, std::int64_t pid = 7) {
    return Owner{1, pid, uid, "job", ""};
  }
  ErrorCode answer(std::uint32_t uid, bool free = true) {
    const Result<void> turn = turns_.may_take(kGpu, user(uid), free);
    return turn ? ErrorCode::kInternal : turn.error().code;
  }
  static constexpr ErrorCode kYes = ErrorCode::kInternal;

  VirtualClock clock_;
  Turns turns_{clock_, [](pid_t) { return true; }};
};

TEST_F(TurnsTest, TheFirstWhoWasRefusedIsNext) {
  turns_.refused(kGpu, user(1));
  turns_.refused(kGpu, user(2));

  EXPECT_EQ(answer(3), ErrorCode::kBusy);
  EXPECT_EQ(answer(2), ErrorCode::kBusy);
  EXPECT_EQ(answer(1), kYes);
  turns_.took(kGpu, user(1));
  EXPECT_EQ(answer(2), kYes);
}

TEST_F(TurnsTest, WhoLetsATurnPassDelaysOthersByThatTurnAlone) {
  turns_.refused(kGpu, user(1));
  EXPECT_EQ(answer(2), ErrorCode::kBusy);

  clock_.advance(Turns::kTurn + milliseconds(1));

  EXPECT_EQ(answer(2), kYes);
}

TEST_F(TurnsTest, WhoStopsAskingLeavesTheLine) {
  turns_.refused(kGpu, user(1));
  clock_.advance(Turns::kPatience + milliseconds(1));
  EXPECT_EQ(answer(2, false), kYes);
}

TEST_F(TurnsTest, ALineIsBounded) {
  for (std::uint32_t uid = 1; uid <= 10'000; ++uid) turns_.refused(kGpu, user(uid));
  for (std::size_t i = 0; i <= Turns::kMostInLine; ++i) {
    (void)answer(20'000);
    clock_.advance(Turns::kTurn + milliseconds(1));
  }
  EXPECT_EQ(answer(20'000), kYes);
}

TEST_F(TurnsTest, APauseIsATenthOfTheLongestLeaseWithinBounds) {
  turns_.reached_longest(kGpu, user(1), Seconds(100));
  clock_.advance(Seconds(9.9));
  EXPECT_EQ(answer(1), ErrorCode::kNotReady);
  EXPECT_EQ(answer(2), kYes) << "others need not wait";
  clock_.advance(Seconds(0.2));
  EXPECT_EQ(answer(1), kYes);
}

TEST_F(TurnsTest, AHolderThatCannotBeSeenStaysAwayForAnHour) {
  turns_.took_back(kGpu, user(1, 0), {});
  clock_.advance(Seconds(3599));
  EXPECT_EQ(answer(1), ErrorCode::kPermission);
  clock_.advance(Seconds(2));
  EXPECT_EQ(answer(1), kYes);
}

}  // namespace
}  // namespace hypermile
