// SPDX-License-Identifier: Apache-2.0
#include "record/report_data.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "testing/example_events.h"

namespace hypermile {
namespace {

TEST(ReportData, TellsOfEveryGpuSettingAndLine) {
  RunDigest run(100, 100);
  for (const Event& event : example_events()) {
    const auto* start = std::get_if<RunStart>(&event.body);
    if (start == nullptr || !start->program.empty()) run.add(event);
  }

  const nlohmann::json j = run_json(run, "7", "/somewhere/run.jsonl");

  EXPECT_EQ(j.at("id"), "7");
  EXPECT_EQ(j.at("file"), "run.jsonl");
  EXPECT_EQ(j.at("title"), "python train.py");
  ASSERT_FALSE(j.at("gpus").empty());
  EXPECT_EQ(j.at("gpus")[0].at("name"), "NVIDIA H200");
  EXPECT_EQ(j.at("gpus")[0].at("power_w").at("mean")[0], 612.5);
  EXPECT_EQ(j.at("gpus")[0].at("asked")[0].at("sm_mhz"), 1410);
  EXPECT_EQ(j.at("end").at("reason"), "the job ended");
  EXPECT_GT(j.at("told").size(), 5u);
}

TEST(ReportData, LeavesOutWhatIsNotKnown) {
  RunDigest run(100, 100);
  run.add({Instant(), SampleEvent{GpuUuid("GPU-1"), {}}});

  const nlohmann::json j = run_json(run, "0", "x");

  EXPECT_FALSE(j.contains("bound"));
  EXPECT_FALSE(j.contains("end"));
  EXPECT_TRUE(j.at("gpus")[0].at("now").empty());
  EXPECT_FALSE(j.at("gpus")[0].contains("oracle"));
}

}  // namespace
}  // namespace hypermile
