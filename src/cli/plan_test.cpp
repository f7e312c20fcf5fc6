// SPDX-License-Identifier: Apache-2.0
//
// `hypermile plan` through the command line, as a person or a script would call it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "cli/cli.h"
#include "testing/scratch_folder.h"

namespace hypermile {
namespace {

struct Called {
  int code = 0;
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

Called call_command(const std::string& line) {
  std::istringstream words(line);
  const std::vector<std::string> arguments{std::istream_iterator<std::string>(words),
                                           std::istream_iterator<std::string>()};
  std::ostringstream out, err;
  VirtualClock clock;
  CommandContext context{out, err, false, clock, {}};
  Called called;
  called.code = run_cli(arguments, context);
  called.out = out.str();
  called.err = err.str();
  return called;
}

Called call(const std::string& line) {
  return call_command("plan " + line);
}

Called sweep(const std::string& line) {
  return call_command("sweep --layers " + line);
}

TEST(PlanCommand, PrintsTheDocumentOfTheContract) {
  const Called called = call(
      "resnet50 --gpu a4000 --batch 4 --precision fp32 --phase forward --max-slowdown 5% "
      "--switch-latency 20ms --json");

  ASSERT_EQ(called.code, 0) << called.err;
  const auto json = called.json();
  double macs = 0;
  for (const auto& layer : json["layers"]) {
    for (const char* key :
         {"name", "type", "flops", "bytes", "intensity", "class", "time_s", "energy_j"}) {
      ASSERT_TRUE(layer.contains(key)) << key;
    }
    const std::string type = layer["type"];
    if (type.starts_with("Conv") || type.starts_with("Linear")) {
      macs += layer["flops"].get<double>() / 2;
    }
  }
  EXPECT_NEAR(macs, 4 * 4.089e9, 4 * 0.001e9);
  ASSERT_EQ(json["strategies"].size(), 7U);
  for (const auto& strategy : json["strategies"]) {
    for (const char* key :
         {"name", "time_s", "energy_j", "saved_pct", "slowdown_pct", "switches"}) {
      ASSERT_TRUE(strategy.contains(key)) << key;
    }
  }
  for (const auto& segment : json["segments"]) {
    for (const char* key : {"from", "to", "setting"}) ASSERT_TRUE(segment.contains(key)) << key;
  }
  for (const char* key : {"layer", "segment", "phase"}) {
    EXPECT_TRUE(json["break_even_switch_latency_s"].contains(key)) << key;
  }
}

TEST(PlanCommand, SaysThatAFolderIsNoNetwork) {
  const ScratchFolder scratch;
  const std::string folder = (scratch.path() / "net.onnx").string();
  std::filesystem::create_directory(folder);

  const Called called = call(folder + " --gpu a4000");

  EXPECT_EQ(called.code, 1);
  EXPECT_EQ(called.err, "hypermile: " + folder + ": cannot be read; check the path\n");
}

TEST(PlanCommand, GivesTimesThatAddUp) {
  const auto json = call("vgg16 --gpu sim:rtx2000ada --batch 8 --json").json();

  double time = 0;
  for (const auto& layer : json["layers"]) time += layer["time_s"].get<double>();

  EXPECT_NEAR(json["strategies"][0]["time_s"].get<double>(), time, 1e-9 * time);
}

TEST(PlanCommand, PlansEveryBuiltInNetwork) {
  for (const char* network : {"bert-base", "gpt2", "gcn"}) {
    const Called called =
        call(std::string(network) + " --gpu v100-pcie --precision fp16 --phase forward --json");

    ASSERT_EQ(called.code, 0) << called.err;
    EXPECT_GT(called.json()["layers"].size(), 5U);
  }
}

TEST(PlanCommand, ShowsTablesToPeople) {
  const Called called = call("vgg16 --gpu a4000 --batch 2 --phase forward --layers");

  ASSERT_EQ(called.code, 0) << called.err;
  EXPECT_NE(called.out.find("features.28"), std::string::npos);
  EXPECT_NE(called.out.find("switch-aware"), std::string::npos);
  EXPECT_NE(called.out.find("Modelled, not measured"), std::string::npos);
}

TEST(PlanCommand, WritesAPage) {
  const ScratchFolder folder;
  const auto path = folder.path() / "plan.html";

  const Called called = call("vgg16 --gpu a4000 --phase forward --page " + path.string());

  ASSERT_EQ(called.code, 0) << called.err;
  std::ifstream in(path);
  std::stringstream page;
  page << in.rdbuf();
  EXPECT_NE(page.str().find("<svg"), std::string::npos);
  EXPECT_NE(page.str().find("</html>"), std::string::npos);
  EXPECT_EQ(page.str().find("http"), std::string::npos);  // nothing from elsewhere
  EXPECT_NE(page.str().find(">1e12</text>"), std::string::npos) << "the roofline has no ticks";
  EXPECT_NE(page.str().find(">100</text>"), std::string::npos) << "the roofline has no ticks";

  // Names of strategies beside their points: no two on the same spot.
  const std::string chart = page.str().substr(page.str().find("Time against energy"));
  const std::regex text("<text x=\"([0-9.]+)\" y=\"([0-9.]+)\" text-anchor=\"start\">([a-z-]+)<");
  std::vector<double> heights;
  for (std::sregex_iterator each(chart.begin(), chart.end(), text), end; each != end; ++each) {
    heights.push_back(std::stod((*each)[2]));
  }
  std::ranges::sort(heights);
  ASSERT_GE(heights.size(), 5U);
  for (std::size_t i = 1; i < heights.size(); ++i) EXPECT_GE(heights[i] - heights[i - 1], 12);
}

TEST(PlanCommand, NamesUnknownModulesOnce) {
  const ScratchFolder folder;
  const auto path = folder.path() / "net.json";
  std::ofstream(path) << R"({"format": "hypermile-network-1", "batch": 1, "layers": [
    {"name": "a", "type": "Strange", "in_shape": [64, 64], "out_shape": [64, 64]},
    {"name": "b", "type": "Strange", "in_shape": [64, 64], "out_shape": [64, 64]}]})";

  const Called called = call(path.string() + " --gpu a4000 --json");

  ASSERT_EQ(called.code, 0) << called.err;
  EXPECT_NE(called.err.find("Strange is not known (2 times)"), std::string::npos) << called.err;
  EXPECT_EQ(called.json()["unknown_operators"][0]["count"], 2);
}

TEST(PlanCommand, PlansOnLayersThatSweepMeasured) {
  const ScratchFolder folder;
  const auto path = folder.path() / "layers.csv";
  const Called swept =
      sweep("--batch 4 --gpu sim:a4000 --grid sm=4,mem=all --out " + path.string() + " -- vgg16");
  ASSERT_EQ(swept.code, 0) << swept.err;
  const std::string words = "vgg16 --batch 4 --gpu a4000 --json --measured " + path.string();

  const Called called = call(words);

  ASSERT_EQ(called.code, 0) << called.err;
  const auto json = called.json();
  EXPECT_GE(json["measured"]["settings"].size(), 5U);
  EXPECT_EQ(json["layers"][0]["time_from"], "measured");
  for (const auto& strategy : json["strategies"]) {
    EXPECT_TRUE(strategy.contains("saved_error_pct"));
    EXPECT_TRUE(strategy.contains("claimed"));
  }
  const Called table = call("vgg16 --batch 4 --gpu a4000 --measured " + path.string());
  EXPECT_NE(table.out.find("Measured: "), std::string::npos);
  EXPECT_EQ(table.out.find("Modelled, not measured"), std::string::npos);
  for (const char* other :
       {"vgg16 --batch 8 --gpu a4000", "gpt2 --batch 4 --gpu a4000", "vgg16 --batch 4 --gpu h200",
        "vgg16 --batch 4 --precision bf16 --gpu a4000"}) {
    const Called refused = call(std::string(other) + " --measured " + path.string());
    EXPECT_EQ(refused.code, 2) << other;
    EXPECT_EQ(std::ranges::count(refused.err, '\n'), 1) << refused.err;
  }
  EXPECT_EQ(sweep("--gpu sim:a4000 --out " + path.string() + ".b -- vgg16 --batch 8").code, 2);
  EXPECT_EQ(sweep("--gpu sim:a4000 --out " + path.string() + " -- vgg16").code,
            2);  // nothing is overwritten
}

TEST(PlanCommand, PlansTheStepAsItIs) {
  const auto json =
      call("vgg16 --gpu a4000 --accumulate 2 --checkpoint 3 --gpus 4 --link 12 --json").json();

  std::map<std::string, int> phases;
  for (const auto& layer : json["layers"]) ++phases[layer["phase"].get<std::string>()];
  EXPECT_EQ(phases["communication"], 1);
  EXPECT_EQ(phases["optimizer"], 1);
  EXPECT_GT(phases["recompute"], 20);
}

TEST(PlanCommand, RefusesBadUsageWithOneLine) {
  for (const char* line :
       {"", "resnet50", "resnet50 --gpu a400", "resnet5 --gpu a4000", "resnet50 vgg16 --gpu a4000",
        "resnet50 --gpu a4000 --precision int8", "resnet50 --gpu a4000 --phase sideways",
        "resnet50 --gpu a4000 --batch 0", "resnet50 --gpu a4000 --accumulate 0",
        "resnet50 --gpu a4000 --checkpoint 9999", "resnet50 --gpu a4000 --link 0",
        "resnet50 --gpu a4000 --switch-latency soon"}) {
    const Called called = call(line);

    EXPECT_EQ(called.code, 2) << line;
    EXPECT_EQ(std::ranges::count(called.err, '\n'), 1) << called.err;
    EXPECT_TRUE(called.out.empty());
  }
  EXPECT_EQ(call("nowhere.onnx --gpu a4000").code, 1);
  EXPECT_EQ(call("resnet50 --gpu a4000 --calibrate nowhere.csv").code, 1);
}

}  // namespace
}  // namespace hypermile
