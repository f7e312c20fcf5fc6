// SPDX-License-Identifier: Apache-2.0
#include "control/slowdown_account.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

Window at_default(double ms, double iterations = 100) {
  Window window;
  window.iterations = iterations;
  window.time_per_iteration = milliseconds(ms);
  window.time_error = 0.003;
  window.power = Watts(300);
  return window;
}

TEST(SlowdownAccount, KnowsNothingBeforeTheDefaultWasMeasured) {
  SlowdownAccount account;

  account.add_off_default(Seconds(10), 100);

  EXPECT_FALSE(account.default_time());
  EXPECT_EQ(account.standing().lost, Seconds(0));
}

TEST(SlowdownAccount, CountsWhatIterationsTookBeyondTheDefault) {
  SlowdownAccount account;
  account.add_default(at_default(100));

  account.add_off_default(Seconds(105), 1000);
  account.add_off_default(Seconds(8), 50);  // a slow probe

  EXPECT_NEAR(account.standing().lost.value(), 8, 1e-9);
  EXPECT_GT(account.standing().error, Seconds(0.3));
}

TEST(SlowdownAccount, TakesAStretchAgainstTheDefaultBeforeAndAfterIt) {
  SlowdownAccount account;
  account.add_default(at_default(104, 2000));  // a slow minute

  account.add_off_default(Seconds(1050), 10000);
  const Seconds seemed = account.standing().lost;
  account.add_default(at_default(100, 2000));
  const Seconds was = account.standing().lost;

  EXPECT_LT(seemed, Seconds(12));
  EXPECT_GT(was, Seconds(25));
  EXPECT_LT(was, Seconds(50));
}

TEST(SlowdownAccount, KeepsWhatWasLostWhileTheDefaultIsMeasuredAgain) {
  SlowdownAccount account;
  account.add_default(at_default(100));
  account.add_off_default(Seconds(110), 1000);

  for (int i = 0; i < 20; ++i) account.add_default(at_default(100));
  account.add_off_default(Seconds(0.1), 1);

  EXPECT_NEAR(account.standing().lost.value(), 10, 1e-6);
}

TEST(SlowdownAccount, IsLessSureWhereTheJobWanders) {
  SlowdownAccount steady;
  SlowdownAccount wandering;

  for (int i = 0; i < 6; ++i) {
    steady.add_default(at_default(100));
    wandering.add_default(at_default(i % 2 == 0 ? 97 : 103));
    steady.add_off_default(Seconds(10), 100);
    wandering.add_off_default(Seconds(10), 100);
  }

  EXPECT_GT(wandering.standing().error, 2 * steady.standing().error);
}

}  // namespace
}  // namespace hypermile
