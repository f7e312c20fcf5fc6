// SPDX-License-Identifier: Apache-2.0
#include "trial/run_report.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

const GpuUuid kGpu("GPU-1");
const Setting kLow = {.sm_clock = Mhz(1200)};

Event at(double seconds, EventBody body) {
  return {Instant() + Seconds(seconds), std::move(body)};
}

Event started(const std::string& policy) {
  RunStart start;
  start.run = RunId("r");
  start.environment = {{"gpu", "card"},
                       {"workload", "job"},
                       {"policy", policy},
                       {"objective", "energy"},
                       {"host_watts", "0"}};
  return at(0, start);
}

Event decided(const Setting& setting, bool exploring) {
  return at(1, Decision{kGpu, "p", setting, "", {}, {{"exploring", exploring ? 1.0 : 0.0}}});
}

Event measured(const Setting& setting, double seconds, double watts) {
  Window window;
  window.setting = setting;
  window.iterations = 10;
  window.time_per_iteration = Seconds(seconds);
  window.power = Watts(watts);
  return at(2, WindowEvent{kGpu, window});
}

Event ended(double seconds, double joules, double final_slowdown) {
  RunEnd end;
  end.totals = {{"seconds", seconds},
                {"joules", joules},
                {"true_final_saved", 0.2},
                {"true_final_slowdown", final_slowdown},
                {"true_best_saved", 0.25},
                {"true_best_slowdown", 0.049},
                {"true_best_energy_change", -0.25},
                {"bound", 0.05}};
  return at(3, end);
}

TEST(RunReport, ComparesTheWholeJobWithTheDefaultRun) {
  const std::vector<Event> base = {started("default"), ended(100, 30000, 0)};
  const std::vector<Event> run = {started("p"),
                                  decided({}, true),
                                  measured({}, 0.1, 300),
                                  decided(kLow, true),
                                  measured(kLow, 0.11, 200),
                                  decided(kLow, false),
                                  measured(kLow, 0.104, 240),
                                  ended(104, 24000, 0.04)};

  const auto outcome = report_run(run, base);

  ASSERT_TRUE(outcome.ok()) << outcome.error().line();
  EXPECT_EQ(outcome->result.key.workload, "job");
  EXPECT_TRUE(outcome->job.against_default_run);
  EXPECT_NEAR(outcome->job.energy_change->value, -0.2, 1e-12);
  EXPECT_NEAR(outcome->result.saved, 0.2, 1e-12);
  EXPECT_NEAR(outcome->result.slowdown, 0.04, 1e-12);
  EXPECT_EQ(outcome->result.kept.front().setting, kLow);
  EXPECT_EQ(outcome->result.probes, 2U);
  EXPECT_EQ(outcome->result.settings_visited, 1U);
  ASSERT_TRUE(outcome->baseline && outcome->kept);
  EXPECT_NEAR(outcome->baseline->energy_j->value, 30, 1e-9);
  EXPECT_NEAR(outcome->kept->time_s->value, 0.107, 1e-9);
  EXPECT_FALSE(outcome->result.violated_job);
  EXPECT_FALSE(outcome->result.violated_final);
}

TEST(RunReport, SaysWhichPromiseWasBroken) {
  const std::vector<Event> base = {started("default"), ended(100, 30000, 0)};
  const std::vector<Event> slow_job = {started("p"), decided(kLow, false), ended(106, 24000, 0.04)};
  const std::vector<Event> slow_kept = {started("p"), decided(kLow, false),
                                        ended(103, 24000, 0.06)};

  EXPECT_TRUE(report_run(slow_job, base)->result.violated_job);
  EXPECT_FALSE(report_run(slow_job, base)->result.violated_final);
  EXPECT_TRUE(report_run(slow_kept, base)->result.violated_final);
}

TEST(RunReport, RefusesALogThatWasCutOff) {
  const std::vector<Event> whole = {started("default"), ended(100, 30000, 0)};
  const std::vector<Event> cut = {started("p"), decided(kLow, false)};

  EXPECT_EQ(report_run(cut, whole).error().code, ErrorCode::kParse);
  EXPECT_EQ(report_run({}, whole).error().code, ErrorCode::kParse);
}

}  // namespace
}  // namespace hypermile
