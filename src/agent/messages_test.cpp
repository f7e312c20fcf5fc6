// SPDX-License-Identifier: Apache-2.0
#include "agent/messages.h"

#include <gtest/gtest.h>

#include <limits>

namespace hypermile {
namespace {

NodeReport full_report() {
  NodeReport report;
  report.phase = 3;
  report.generation = 2;
  report.order = 77;
  report.account = {100, 40, -1.5, Seconds(17.5)};
  report.terms = PhaseTerms{
      {{}, {Mhz(1500), Mhz(9501), Watts(250)}}, 60, 20, {Mhz(1980), {}, {}}, milliseconds(40)};
  Window window;
  window.setting = {Mhz(1500), {}, {}};
  window.duration = Seconds(3);
  window.iterations = 75;
  window.time_per_iteration = milliseconds(40);
  window.power = Watts(512);
  window.power_error = 0.01;
  window.aborted = true;
  window.unusable = "too hot";
  window.refusal = Refusal::kHeldBack;
  report.window = window;
  report.totals = NodeTotals{12'000, -30.0, 0.02};
  return report;
}

TEST(AgentMessagesTest, AReportComesBackAsItWas) {
  const auto read = from_message(to_message(full_report()));

  ASSERT_TRUE(read);
  EXPECT_EQ(read->order, 77U);
  EXPECT_EQ(read->generation, 2U);
  EXPECT_EQ(read->account.lost, -1.5);
  EXPECT_EQ(read->account.off_time, Seconds(17.5));
  EXPECT_EQ(read->terms->settings, full_report().terms->settings);
  EXPECT_EQ(read->terms->typical, milliseconds(40));
  EXPECT_EQ(read->window->setting, full_report().window->setting);
  EXPECT_EQ(read->window->power, Watts(512));
  EXPECT_FALSE(read->window->energy.has_value());
  EXPECT_TRUE(read->window->held_back());
  EXPECT_EQ(read->window->unusable, "too hot");
  EXPECT_EQ(read->totals, full_report().totals);
}

TEST(AgentMessagesTest, AnOrderComesBackAsItWas) {
  Order order;
  order.id = 9;
  order.setting = {Mhz(1200), {}, {}};
  order.abort_above = milliseconds(50);
  order.learnt = Learnt{order.setting, 1.04, 0.8};
  order.reason = std::string(2000, 'x');

  const auto read = from_message(to_message(order));

  ASSERT_TRUE(read);
  EXPECT_EQ(read->setting, order.setting);
  EXPECT_EQ(read->abort_above, order.abort_above);
  EXPECT_EQ(read->learnt, order.learnt);
  EXPECT_EQ(read->reason.size(), kMostReasonBytes);
}

TEST(AgentMessagesTest, RefusesNumbersThatCannotBe) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto spoiled = [](auto change) {
    agents::v1::Report message = to_message(full_report());
    change(message);
    return from_message(message).ok();
  };

  EXPECT_FALSE(spoiled([&](auto& m) { m.set_done(nan); }));
  EXPECT_FALSE(spoiled([&](auto& m) { m.mutable_window()->set_time_per_iteration_s(0); }));
  EXPECT_FALSE(spoiled([&](auto& m) { m.mutable_window()->set_power_w(-1); }));
  EXPECT_FALSE(spoiled([&](auto& m) { m.mutable_window()->set_refusal(99); }));
  EXPECT_FALSE(spoiled([&](auto& m) { m.mutable_terms()->clear_settings(); }));
  EXPECT_FALSE(spoiled([&](auto& m) { m.mutable_terms()->set_typical_s(0); }));
  EXPECT_FALSE(spoiled([&](auto& m) { m.mutable_totals()->set_joules(nan); }));
  EXPECT_TRUE(spoiled([](auto&) {}));
  agents::v1::Order order = to_message(Order{});
  order.set_iterations(nan);
  EXPECT_FALSE(from_message(order));
}

}  // namespace
}  // namespace hypermile
