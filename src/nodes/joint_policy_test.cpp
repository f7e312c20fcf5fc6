// SPDX-License-Identifier: Apache-2.0
//
// A whole Controller that is ordered from outside, in virtual time.
#include "nodes/joint_policy.h"

#include <gtest/gtest.h>

#include "testing/control_fixture.h"

namespace hypermile {
namespace {

class JointPolicyTest : public ControllerTest {
 protected:
  JointPolicyTest() {
    options_.guard = false;
    options_.slack = false;
    options_.changes = false;
    begin(seat_.maker());
  }

  double elapsed() const { return (clock_.now() - begin_).value(); }
  void train_for(double seconds) { train(elapsed() + seconds); }

  // Until the Controller has made its policy, which the seat tells of.
  bool met() {
    seat_.join();
    for (int i = 0; i < 60; ++i) {
      train_for(1);
      for (const NodeReport& report : seat_.reports()) {
        if (report.terms) return report.terms->settings.size() > 3;
      }
    }
    return false;
  }
  void order(std::uint64_t id, double mhz, bool exploring = true) {
    Order order;
    order.exploring = exploring;
    order.id = id;
    if (mhz > 0) order.setting = {Mhz(mhz), {}, {}};
    order.iterations = 100;
    seat_.take(order);
  }

  Seat seat_;
};

TEST_F(JointPolicyTest, TheControllerDoesWhatIsOrderedAndReportsTheWindow) {
  ASSERT_TRUE(met()) << controller_->reason();
  EXPECT_TRUE(card_->held.empty());

  order(5, 1500);
  train_for(12);

  EXPECT_EQ(card_->held.sm_clock, Mhz(1500));
  std::vector<NodeReport> windows;
  for (const NodeReport& report : seat_.reports()) {
    if (report.window) windows.push_back(report);
  }
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_EQ(windows[0].order, 5U);
  ASSERT_TRUE(windows[0].window->usable()) << windows[0].window->unusable;
  EXPECT_NEAR(windows[0].window->time_per_iteration->value(), card_->iteration().value(), 0.0005);
  EXPECT_GT(windows[0].account.done, 0);
}

TEST_F(JointPolicyTest, ANewOrderInterruptsAMeasurement) {
  ASSERT_TRUE(met());
  order(5, 1500);
  train_for(1);

  order(6, 1200);
  train_for(1);

  EXPECT_EQ(card_->held.sm_clock, Mhz(1200));
}

// Its clock was looked at while all nodes had it, and is held while the others have more: it waits
// for them, and is faster than it was.
TEST_F(JointPolicyTest, ANodeThatWaitsForOthersDoesNotTakeTheirPaceForAChangeOfTheJob) {
  ASSERT_TRUE(met());
  std::uint64_t id = 5;
  for (int i = 0; i < 3; ++i) {
    order(id++, 0);
    train_for(8);
  }
  card_->drag = 0.3;
  for (int i = 0; i < 3; ++i) {
    order(id++, 1200);
    train_for(8);
  }
  for (const double drag : {0.3, 0.0, 0.3}) {
    card_->drag = drag;
    for (int i = 0; i < 20; ++i) {
      order(id++, 1200, /*exploring=*/false);
      train_for(8);
    }
  }

  EXPECT_EQ(controller_->summary().drifts, 0U);
  for (const NodeReport& report : seat_.reports()) EXPECT_EQ(report.generation, 1U);
}

TEST_F(JointPolicyTest, GoesToTheDefaultAtOnceWhenTheGroupIsLost) {
  ASSERT_TRUE(met());
  order(5, 1500);
  train_for(3);
  ASSERT_FALSE(card_->held.empty());

  seat_.leave("the coordinating node is lost");
  train_for(0.2);

  EXPECT_TRUE(card_->held.empty());
  EXPECT_EQ(controller_->reason(), "the coordinating node is lost");
}

TEST_F(JointPolicyTest, GoesToTheDefaultWhenTheGroupIsLostWhileTheJobPauses) {
  ASSERT_TRUE(met());
  order(5, 1500);
  train_for(12);
  pause(elapsed() + 8);
  ASSERT_EQ(controller_->state(), ControlState::kIdle) << controller_->reason();
  ASSERT_FALSE(card_->held.empty());

  seat_.leave("the coordinating node is lost");
  pause(elapsed() + 1);

  EXPECT_TRUE(card_->held.empty());
}

}  // namespace
}  // namespace hypermile
