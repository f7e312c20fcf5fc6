// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_report.h"

#include <gtest/gtest.h>

#include "plan/builtin_networks.h"

namespace hypermile {
namespace {

PlanReport report_of(const char* network, const char* gpu, const PlanOptions& options) {
  return *make_plan_report(*builtin_network(network, 32), *load_gpu_sheet(gpu), options);
}

TEST(PlanReport, CoversTheIterationWithSegments) {
  const PlanReport report = report_of(
      "resnet50", "a4000", {.switching = {.latency = Seconds(0.005)}, .break_even = false});

  std::vector<int> covered(report.stages.size(), 0);
  double time = 0;
  for (const PlanSegment& segment : report.segments) {
    for (std::size_t i = segment.from;; i = (i + 1) % covered.size()) {
      ++covered[i];
      if (i == segment.to) break;
    }
    time += segment.time_s;
  }

  EXPECT_EQ(covered, std::vector<int>(covered.size(), 1));
  const PlanTotals& planned = report.strategies.back().result.totals;
  EXPECT_LE(time, planned.time_s * (1 + 1e-12));
  EXPECT_EQ(planned.switches, report.segments.size());
}

TEST(PlanReport, FindsThatFinerPlansNeedQuickerSwitches) {
  const PlanReport report = report_of("resnet50", "a4000", {});

  ASSERT_TRUE(report.break_even.layer && report.break_even.segment);
  EXPECT_LT(*report.break_even.layer, *report.break_even.segment);
  EXPECT_LT(report.break_even.segment->value(), report.strategies.front().result.totals.time_s);
}

TEST(PlanReport, HasIdleTimesOfEveryStageAndStrategy) {
  const PlanReport report =
      report_of("vgg16", "rtx2000ada", {.scope = Scope::kForward, .break_even = false});

  for (const StrategyReport& strategy : report.strategies) {
    ASSERT_EQ(strategy.idle.size(), report.stages.size());
    for (std::size_t i = 0; i < report.stages.size(); ++i) {
      const double time = report.table.at(i, strategy.result.wanted[i]).time_s;
      EXPECT_GE(strategy.idle[i].compute_s, 0);
      EXPECT_LE(strategy.idle[i].compute_s, time * (1 + 1e-9));
      EXPECT_LE(strategy.idle[i].memory_s, time * (1 + 1e-9));
    }
  }
}

TEST(PlanReport, SavesTimeAndEnergyByFusing) {
  const PlanReport apart = report_of("resnet50", "a4000", {.break_even = false});
  const PlanReport fused = report_of("resnet50", "a4000", {.fuse = true, .break_even = false});

  EXPECT_LT(fused.stages.size(), apart.stages.size());
  EXPECT_LT(fused.table.uniform(0).time_s, apart.table.uniform(0).time_s);
}

TEST(Switching, IncludesTheCostOfCallsAndTheRateLimit) {
  const GpuSheet sheet = *load_gpu_sheet("a4000");
  const auto stages = make_stages(*builtin_network("vgg16", 4), {});
  const CostTable table = make_cost_table(sheet, stages, {});

  const PlanProblem problem =
      make_problem(sheet, table, 0.05,
                   {.latency = milliseconds(10), .call = milliseconds(1), .most_per_second = 20});

  EXPECT_DOUBLE_EQ(problem.sm.spacing_s, 0.05);
  EXPECT_DOUBLE_EQ(problem.sm.lost_s, 0.001);
  EXPECT_GT(problem.sm.lost_j, 0);
  EXPECT_GT(problem.memory.lost_s, problem.sm.lost_s);
  EXPECT_TRUE(make_problem(sheet, table, 0.05, {.latency = Seconds(0)}).free_switching());
  // The latency of the plan is the 90th percentile, which lies above the median.
  EXPECT_GT(latency_of(sheet, {}), sheet.constants.switching.sm.median);
  EXPECT_LT(latency_of(sheet, {}), sheet.constants.switching.sm.p99);
}

}  // namespace
}  // namespace hypermile
