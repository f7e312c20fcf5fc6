// SPDX-License-Identifier: Apache-2.0
#include "nodes/seat.h"

#include <gtest/gtest.h>

#include "policy/policy.h"

namespace hypermile {
namespace {

class SeatTest : public ::testing::Test {
 protected:
  std::unique_ptr<Policy> policy() {
    PolicyContext context;
    context.settings = {{}, {Mhz(1500), {}, {}}, {Mhz(1200), {}, {}}};
    PhaseFacts facts{nullptr, 0, {}, milliseconds(40)};
    return seat_.maker()(facts, context).value();
  }
  static Order order(std::uint64_t id, double mhz) {
    Order order;
    order.id = id;
    order.setting = {Mhz(mhz), {}, {}};
    order.iterations = 50;
    return order;
  }

  Seat seat_;
};

TEST_F(SeatTest, StaysAtTheDefaultUntilTheNodesHaveMet) {
  const auto policy = this->policy();

  const Step step = policy->next();

  EXPECT_EQ(step.setting, 0U);
  EXPECT_FALSE(policy->withdrawn());
  EXPECT_TRUE(seat_.reports().empty());
}

TEST_F(SeatTest, DoesWhatIsOrderedReportsItOnceAndWaits) {
  const auto policy = this->policy();
  policy->next();
  seat_.join();
  ASSERT_EQ(seat_.reports().size(), 1U);

  seat_.take(order(5, 1200));
  EXPECT_TRUE(policy->withdrawn());
  EXPECT_EQ(policy->next().setting, 2U);
  EXPECT_EQ(policy->next().iterations, 50);
  policy->observe({});
  const Step waiting = policy->next();
  policy->observe({});

  EXPECT_EQ(waiting.setting, 2U);
  EXPECT_GT(waiting.iterations, 1e6);
  const auto reports = seat_.reports();
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].order, 5U);
  EXPECT_TRUE(reports[0].window.has_value());
  EXPECT_FALSE(reports[1].window.has_value());
}

TEST_F(SeatTest, WithdrawsEverythingWhereTheGroupIsLost) {
  const auto policy = this->policy();
  seat_.join();
  seat_.take(order(5, 1200));
  policy->next();

  seat_.leave("the coordinator is lost");

  EXPECT_TRUE(policy->withdrawn());
  const Step step = policy->next();
  EXPECT_EQ(step.setting, 0U);
  EXPECT_EQ(step.reason, "the coordinator is lost");
  seat_.take(order(6, 1200));
  EXPECT_FALSE(policy->withdrawn()) << "an order that comes late counts for nothing";
}

TEST_F(SeatTest, TellsEverythingAgainToTheNextCoordinator) {
  const auto policy = this->policy();
  seat_.join();
  ASSERT_TRUE(seat_.reports().front().terms.has_value());
  EXPECT_FALSE(seat_.reports().front().terms.has_value());
  Order known = order(5, 1200);
  known.learnt = Learnt{known.setting, 1.04, 0.8};
  seat_.take(known);

  seat_.leave("lost");
  seat_.join();

  EXPECT_TRUE(seat_.reports().front().terms.has_value());
  EXPECT_EQ(seat_.learnt().at(0).time_ratio, 1.04);
}

TEST_F(SeatTest, TellsItsTotalsOnceAndOnlyToAGroup) {
  seat_.farewell({1000, 50.0, {}});
  EXPECT_TRUE(seat_.reports().empty());
  seat_.join();

  const auto reports = seat_.reports(/*beat=*/false);

  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].totals, (NodeTotals{1000, 50.0, {}}));
  EXPECT_TRUE(seat_.reports(/*beat=*/false).empty());
}

TEST_F(SeatTest, TakesASettingThatTheNodeDoesNotHaveForTheDefault) {
  const auto policy = this->policy();
  seat_.join();
  seat_.take(order(5, 777));

  EXPECT_EQ(policy->next().setting, 0U);
}

}  // namespace
}  // namespace hypermile
