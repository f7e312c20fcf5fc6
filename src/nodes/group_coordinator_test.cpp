// SPDX-License-Identifier: Apache-2.0
#include "nodes/group_coordinator.h"

#include <gtest/gtest.h>

#include "testing/joint_nodes.h"

namespace hypermile {
namespace {

TEST(GroupCoordinatorTest, DecidesNothingBeforeAllNodesAreThereOrHadTheirTime) {
  NodesForTest job(4);
  for (const NodeNumber node : {0U, 1U, 2U}) job.join(node);

  job.pass(9);
  EXPECT_EQ(job.nodes[0].orders, 0U);
  job.pass(2);
  EXPECT_EQ(job.nodes[0].orders, 1U);
}

TEST(GroupCoordinatorTest, KeepsTheTotalsOfNodesThatHaveLeft) {
  NodesForTest job(2);
  job.join_all();
  NodeReport last;
  last.totals = NodeTotals{1000, 50.0, 0.01};
  job.coordinator->report(1, last, job.now);
  job.coordinator->lost(1, job.now);
  last.totals->joules = 7;
  job.coordinator->report(1, last, job.now);

  ASSERT_TRUE(job.coordinator->totals().contains(1));
  EXPECT_EQ(job.coordinator->totals().at(1).joules, 1000) << "who is no member is not heard";
}

TEST(GroupCoordinatorTest, HalfOfTheNodesDecideOnlyWithTheFirst) {
  NodesForTest with_first(4), without_first(4), less(5);
  for (const NodeNumber node : {0U, 3U}) with_first.join(node);
  for (const NodeNumber node : {1U, 2U}) without_first.join(node);
  for (const NodeNumber node : {0U, 1U}) less.join(node);

  for (NodesForTest* job : {&with_first, &without_first, &less}) job->pass(60);

  EXPECT_EQ(with_first.nodes[0].orders, 1U);
  EXPECT_EQ(without_first.nodes[1].orders, 0U);
  EXPECT_NE(without_first.coordinator->trouble().find("only 2 of 4 nodes"), std::string::npos);
  EXPECT_EQ(less.nodes[0].orders, 0U);
}

TEST(GroupCoordinatorTest, OrdersTheDefaultAtOnceWhenANodeIsLostAndGoesOnWithTheRest) {
  NodesForTest job(4);
  job.join_all();
  ASSERT_TRUE(job.hold());
  const std::size_t probes = job.coordinator->decisions();

  job.coordinator->lost(1, job.now);

  for (const NodeNumber node : {0U, 2U, 3U}) {
    EXPECT_TRUE(job.nodes[node].order.setting.empty());
    EXPECT_EQ(job.nodes[node].order.reason, "n1 is lost");
  }
  job.nodes[1].order = {};  // its lease ended with it
  job.pass(11);
  ASSERT_TRUE(job.hold());
  EXPECT_LE(job.coordinator->decisions() - probes, probes) << "what was learnt was kept";
}

TEST(GroupCoordinatorTest, TheNextCoordinatorBeginsWithWhatWasLearnt) {
  NodesForTest first(4);
  first.join_all();
  ASSERT_TRUE(first.hold());
  for (int i = 0; i < 20; ++i) first.round();
  ASSERT_TRUE(first.nodes[1].order.learnt.has_value());
  const std::size_t probes = first.coordinator->decisions();

  NodesForTest next(4, {{0, *first.nodes[1].order.learnt}});
  next.join_all();

  ASSERT_TRUE(next.hold());
  EXPECT_LT(next.coordinator->decisions(), probes);
}

TEST(GroupCoordinatorTest, BeginsAnewWhereANodeSaysThatTheJobHasChanged) {
  NodesForTest job(2);
  job.join_all();
  ASSERT_TRUE(job.hold());
  job.pass(130);

  NodeReport changed;
  changed.generation = 2;
  changed.terms = NodesForTest::terms();
  job.coordinator->report(1, changed, job.now);

  EXPECT_TRUE(job.nodes[0].order.setting.empty());
  EXPECT_EQ(job.nodes[0].order.reason, "the job has changed");
}

TEST(GroupCoordinatorTest, IgnoresNodesThatAreNotOfTheJobAndReportsOfNobody) {
  NodesForTest job(2);
  job.coordinator->joined(7, job.now);
  job.coordinator->report(1, {}, job.now);

  EXPECT_TRUE(job.coordinator->members().empty());
}

}  // namespace
}  // namespace hypermile
