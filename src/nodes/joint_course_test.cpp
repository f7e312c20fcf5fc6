// SPDX-License-Identifier: Apache-2.0
#include "nodes/joint_course.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <span>

#include "testing/joint_nodes.h"

namespace hypermile {
namespace {

TEST(JointCourseTest, SearchesWithOneSettingOnAllNodesAndKeepsTheBoundOfTheWholeJob) {
  NodesForTest job(4);
  job.join_all();

  for (int i = 0; i < 300; ++i) {
    job.round();
    for (const NodeForTest& node : job.nodes) {
      ASSERT_EQ(node.order.id, job.nodes.front().order.id);
      if (!node.order.exploring) continue;
      ASSERT_EQ(node.order.setting, job.nodes.front().order.setting);
    }
  }

  const NodeAccount& account = job.nodes.front().account;
  EXPECT_LE(account.lost / account.done, 0.05);
  EXPECT_GT(account.off, 0.3 * account.done);
  EXPECT_LT(job.nodes.front().energy_j, 0.95 * account.done * 0.040 * 600);
}

TEST(JointCourseTest, TakesTheSlackOfTheNodesThatWaitForAStraggler) {
  CourseTerms course;
  course.objective.max_slowdown = 1.0;  // the Setting of least energy lies within it: there is room
  NodesForTest job(4, {}, course), balanced(4, {}, course);
  job.nodes[2].work = 1.25;
  for (NodesForTest* one : {&job, &balanced}) one->join_all();

  for (int i = 0; i < 400; ++i) {
    job.round();
    balanced.round();
  }

  for (const std::size_t i : {0U, 1U, 3U}) {
    EXPECT_LT(job.nodes[i].energy_j / job.nodes[i].account.done / 1.25,
              0.93 * balanced.nodes[i].energy_j / balanced.nodes[i].account.done)
        << "n" << i;
  }
}

// Within 5 % the job's time is shared between Settings, one of them slower than the bound. Slack is
// taken at each of them, for what waits costs no time wherever the pace is set.
TEST(JointCourseTest, TakesTheSlackWithinATightBoundWhileTheJobsTimeIsShared) {
  NodesForTest job(4);
  job.nodes[3].work = 1.2;
  job.join_all();
  for (int i = 0; i < 80; ++i) job.round();

  std::map<double, int> held, waited;  // by the pacing node's clock, in orders
  for (int i = 0; i < 120; ++i) {
    job.round();
    const double pace = job.nodes[3].ratio();
    if (job.nodes[3].order.setting.empty()) continue;
    ++held[pace];
    waited[pace] +=
        std::ranges::all_of(std::span(job.nodes).first(3),
                            [pace](const NodeForTest& node) { return node.ratio() < 0.85 * pace; });
  }

  EXPECT_GE(held.size(), 2U) << "the job's time is shared";
  for (const auto& [pace, orders] : held) EXPECT_GE(waited[pace], 0.7 * orders) << pace;
  const NodeAccount& account = job.nodes.front().account;
  EXPECT_LE(account.lost / account.done, 0.05);
}

TEST(JointCourseTest, WatchesTheDefaultWhileANodeMeasuresNothing) {
  NodesForTest job(4);
  job.join_all();
  ASSERT_TRUE(job.hold());

  job.nodes[3].silent = true;
  job.round();
  job.pass(60);

  for (const NodeForTest& node : job.nodes) EXPECT_TRUE(node.order.setting.empty());
  EXPECT_NE(job.nodes[0].order.reason.find("n3 has measured nothing"), std::string::npos);

  job.nodes[3].silent = false;
  job.pass(60);
  EXPECT_TRUE(job.hold(20)) << "it goes on where it was";
}

TEST(JointCourseTest, GoesToTheDefaultWhereTheBoundComesNear) {
  NodesForTest job(2);
  job.join_all();
  ASSERT_TRUE(job.hold());

  for (NodeForTest& node : job.nodes) node.account.off_time += Seconds(0.06 * 600);
  job.round();
  job.round();

  for (const NodeForTest& node : job.nodes) {
    EXPECT_TRUE(node.order.setting.empty());
    EXPECT_NE(node.order.reason.find("near the bound"), std::string::npos) << node.order.reason;
  }
}

// As a ledger learns the default's pace it thinks again of all that was lost. Here the ledger of
// the course does so, and the lead's second thoughts are not added to that.
TEST(JointCourseTest, CountsTimeOnceWhateverTheLeadThinksOfItLater) {
  NodesForTest job(2);
  job.join_all();
  ASSERT_TRUE(job.hold());

  for (NodeForTest& node : job.nodes) node.account.lost += 0.06 * 600 / 0.040;
  job.round();
  job.round();

  EXPECT_EQ(job.nodes[0].order.reason.find("near the bound"), std::string::npos);
  EXPECT_FALSE(job.nodes[0].order.setting.empty()) << job.nodes[0].order.reason;
}

TEST(JointCourseTest, KnowsWhatWasLostBeforeItBegan) {
  NodesForTest job(2);
  for (NodeForTest& node : job.nodes) {
    node.account = {30'000, 20'000, 0.06 * 30'000, Seconds(0.040 * 21'800)};
  }
  job.join_all();

  for (int i = 0; i < 5; ++i) job.round();

  EXPECT_NE(job.nodes[0].order.reason.find("near the bound"), std::string::npos)
      << job.nodes[0].order.reason;
}

TEST(JointCourseTest, OffersOnlyWhatEveryNodeHas) {
  NodesForTest job(2);
  job.coordinator->joined(0, job.now);
  job.coordinator->joined(1, job.now);
  NodeReport hello;
  hello.generation = 1;
  hello.terms = NodesForTest::terms();
  job.coordinator->report(0, hello, job.now);
  hello.terms->settings = {{}};
  job.coordinator->report(1, hello, job.now);

  job.coordinator->step(job.now);

  EXPECT_EQ(job.nodes[0].orders, 0U);
  EXPECT_NE(job.coordinator->trouble().find("no setting in common"), std::string::npos);
}

}  // namespace
}  // namespace hypermile
