// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "control/run_summary.h"

namespace hypermile {
namespace {

RunSummary example() {
  PhaseReport train;
  train.iterations = 412;
  train.micro_batches = 8;
  train.launches = 9837;
  train.in_force = Seconds(190);
  train.cost.emplace();
  train.cost->time_s = Estimate{0.46503, 0.0002};
  train.cost->energy_j = Estimate{281.4, 1.2};
  train.cost->energy_disagreement = -0.004;
  train.cost->sm_mhz = Estimate{1890};
  train.cost->power_w = Estimate{605};
  train.cost->windows = 94;
  train.cost->gpu_timed = 93;
  train.windows = 95;
  train.unusable = {{"another process", 1}};
  PhaseReport eval;
  eval.phase = 1;
  eval.iterations = 60;
  eval.cost.emplace();
  eval.cost->time_s = Estimate{0.0123};
  eval.cost->windows = 1;
  ProcessReport process;
  process.pid = 4242;
  process.name = "python";
  process.source = "launches";
  process.devices = {0};
  process.launches = 4'000'000;
  process.seen = Seconds(200);
  process.coverage = 0.96;
  process.phases = {train, eval};
  RunSummary summary;
  summary.command = {"python", "train.py"};
  summary.duration = Seconds(205.04);
  summary.gpus = {{0, "GPU-1", "NVIDIA H200", Joules(120000), ""}};
  summary.processes = {process};
  summary.notes = {"something to note"};
  return summary;
}

TEST(SummaryText, IsWhatAPersonWantsToKnow) {
  EXPECT_EQ(
      to_text(example()),
      "hypermile: the job ended after 205.0 s with exit code 0; GPU 0 used 120000 J\n"
      "  process 4242 (python) on GPU 0, iterations known for 96 % of 200.0 s, from launches\n"
      "    phase 0: 412 iterations of 8 micro-batches, 465.0 ± 0.2 ms and 281.4 ± 1.2 J each, "
      "605 W at 1890 MHz\n"
      "      from 94 windows, 93 of them on the GPU's own clock; energy counter -0.4 % against "
      "power samples\n"
      "      1 of 95 windows not fit for decisions: another process\n"
      "    phase 1: 60 iterations, 12.30 ms each\n"
      "      from 1 window, 0 of them on the GPU's own clock\n"
      "  note: something to note\n");
}

TEST(SummaryText, HasNoNegativeZero) {
  RunSummary summary = example();
  summary.processes[0].phases[0].cost->energy_disagreement = -0.0004;

  EXPECT_NE(to_text(summary).find("energy counter +0.0 % against"), std::string::npos);
}

TEST(SummaryText, SaysWhatKilledTheJob) {
  RunSummary summary;
  summary.end.signal = 11;

  EXPECT_EQ(to_text(summary), "hypermile: the job ended after 0.0 s, killed by signal 11\n");
}

TEST(SummaryText, FallsBackOnTheRateOfLaunches) {
  RunSummary summary;
  ProcessReport process;
  process.pid = 7;
  process.name = "ipython";
  process.launch_rate = RateEstimate{12345, 100};
  summary.processes = {process};

  EXPECT_NE(to_text(summary).find(
                "process 7 (ipython): no iterations found; 12345 ± 196 launches a second"),
            std::string::npos);
}

TEST(SummaryJson, HoldsEverythingAndLeavesOutWhatIsNotKnown) {
  const nlohmann::json j = to_json(example());

  EXPECT_EQ(j.at("exit_code"), 0);
  EXPECT_EQ(j.at("gpus")[0].at("energy_j"), 120000);
  EXPECT_EQ(j.at("processes")[0].at("coverage"), 0.96);
  const nlohmann::json& phases = j.at("processes")[0].at("phases");
  EXPECT_EQ(phases[0].at("micro_batches"), 8);
  EXPECT_EQ(phases[0].at("energy_interval95_j"), 1.2);
  EXPECT_EQ(phases[0].at("unusable").at("another process"), 1);
  EXPECT_FALSE(phases[1].contains("energy_per_iteration_j"));
  EXPECT_FALSE(phases[1].contains("time_interval95_s"));
  EXPECT_EQ(j.at("notes").size(), 1U);
}

}  // namespace
}  // namespace hypermile
