// SPDX-License-Identifier: Apache-2.0
#include "record/nodes_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hypermile {
namespace {

// A node's run: two windows at the default, then two at `mhz`, each of 100 iterations.
std::unique_ptr<RunDigest> node_run(const std::string& name, double mhz, double watts) {
  auto run = std::make_unique<RunDigest>(100, 100);
  const GpuUuid gpu("GPU-" + name);
  RunStart start;
  start.program = "hypermile";
  start.environment = {{"SLURM_JOB_ID", "12"}, {"SLURM_STEP_ID", "0"}, {"SLURMD_NODENAME", name}};
  run->add({Instant(), start});
  Instant now;
  double energy = 0;
  const auto sample = [&] {
    Sample reading;
    reading.time = now;
    reading.energy = Joules(energy);
    run->add({now, SampleEvent{gpu, reading}});
  };
  sample();
  for (int i = 0; i < 4; ++i) {
    const bool lower = i >= 2;
    Window window;
    if (lower) window.setting = {Mhz(mhz), {}, {}};
    window.begin = now;
    window.duration = Seconds(lower ? 4.1 : 4);
    window.iterations = 100;
    window.first_iteration = 100.0 * i;
    window.time_per_iteration = window.duration * 0.01;
    window.power = Watts(lower ? watts : 300);
    window.energy_per_iteration = *window.power * *window.time_per_iteration;
    window.time_error = window.power_error = window.energy_error = 0.001;
    if (i == 2)
      run->add({now, Decision{gpu, "hypermile", window.setting, "", 1.0, {{"exploring", 0}}}});
    now = now + window.duration;
    energy += (*window.power * window.duration).value();
    run->add({now, WindowEvent{gpu, window, 7, 100.0 * (i + 1)}});
    sample();
  }
  return run;
}

TEST(NodesReport, AddsTheEnergiesOfTheNodesAndNamesThoseThatWait) {
  const auto first = node_run("n0", 1500, 250), second = node_run("n1", 1200, 200);
  const NodeRun nodes[] = {{node_of(*first, "a.jsonl"), first.get()},
                           {node_of(*second, "b.jsonl"), second.get()}};

  const nlohmann::json j = nodes_json(nodes);
  const std::string text = nodes_text(nodes);

  EXPECT_EQ(j.at("job"), "12.0");
  ASSERT_EQ(j.at("nodes").size(), 2U);
  EXPECT_EQ(j.at("nodes")[1].at("node"), "n1");
  EXPECT_NEAR(j.at("joules").get<double>(), 2 * 2400 + 8.2 * (250 + 200), 1);
  EXPECT_LT(j.at("energy_change").get<double>(), -0.05);
  EXPECT_FALSE(j.at("nodes")[0].at("waits").get<bool>());
  EXPECT_TRUE(j.at("nodes")[1].at("waits").get<bool>());
  EXPECT_NE(text.find("job 12.0 on 2 nodes"), std::string::npos);
  EXPECT_NE(text.find("waits for the others"), std::string::npos);
}

TEST(NodesReport, LeavesOutWhatALogDoesNotTell) {
  const RunDigest empty(10, 10);
  const NodeRun nodes[] = {{node_of(empty, "logs/7.0-n3.jsonl"), &empty}};

  EXPECT_EQ(nodes[0].name, "7.0-n3");
  EXPECT_FALSE(nodes_json(nodes).contains("energy_change"));
  EXPECT_NE(nodes_text(nodes).find("whole job: "), std::string::npos);
}

}  // namespace
}  // namespace hypermile
