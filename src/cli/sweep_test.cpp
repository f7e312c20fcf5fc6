// SPDX-License-Identifier: Apache-2.0
//
// `sweep` as scripts see it, in virtual time; living jobs are swept in tests/run.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/sweep_bar.h"
#include "testing/cli_fixture.h"
#include "testing/scratch_folder.h"

namespace hypermile {
namespace {

class SweepCommand : public CliTest {
 protected:
  void SetUp() override {
    if (const char* source = std::getenv("HYPERMILE_SOURCE_DIR")) {
      ::setenv("HYPERMILE_DATA", source, 1);
    }
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string read(const std::string& name) const {
    std::ifstream in(path(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  int sweep(const std::string& name, std::vector<std::string> more) {
    more.insert(more.begin(), {"sweep", "--out", path(name)});
    return run(std::move(more));
  }

  const ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.path();
};

TEST_F(SweepCommand, WritesATableThatEvaluateLearnAndPredictRead) {
  for (const std::string workload : {"resnet50", "gpt2", "dcgan", "dlrm"}) {
    ASSERT_EQ(sweep(workload + ".csv", {"--gpu", "sim:h200", "--workload", workload, "--grid",
                                        "sm=6", "--warm-up", "2s", "--json"}),
              0)
        << err();
    EXPECT_TRUE(nlohmann::json::parse(out())["complete"]);
  }

  ASSERT_EQ(run({"evaluate", path("gpt2.csv"), "--policy", "oracle", "--json"}), 0) << err();
  EXPECT_EQ(nlohmann::json::parse(out())["runs"].size(), 3U);
  ASSERT_EQ(run({"learn", path("resnet50.csv"), path("gpt2.csv"), path("dcgan.csv"), "--out",
                 path("model.json"), "--kind", "analytic"}),
            0)
      << err();
  ASSERT_EQ(run({"predict", "--model", path("model.json"), "--check", path("dlrm.csv"), "--json"}),
            0)
      << err();
  EXPECT_GT(nlohmann::json::parse(out())["rows"], 2);
  // An H200 has activity counters.
  EXPECT_NE(read("gpt2.csv").find("tensor_active"), std::string::npos);
}

TEST_F(SweepCommand, DoesNothingTwice) {
  const std::vector<std::string> command = {"--gpu",  "sim:v100-sxm2", "--workload", "dcgan",
                                            "--grid", "sm=2",          "--warm-up",  "1s"};
  ASSERT_EQ(sweep("F.csv", command), 0) << err();
  const std::string table = read("F.csv");

  ASSERT_EQ(sweep("F.csv", command), 0) << err();
  EXPECT_EQ(read("F.csv"), table);

  std::vector<std::string> other = command;
  other[3] = "gpt2";
  EXPECT_EQ(sweep("F.csv", other), 2);
  EXPECT_NE(err().find("belongs to another sweep: dcgan"), std::string::npos) << err();
}

TEST_F(SweepCommand, SweepsAReplayedGpu) {
  std::ofstream(path("in.csv")) << "gpu,workload,sm_mhz,time_s,power_w,is_default\n"
                                   "G,job,1000,1,100,1\nG,job,800,1.1,80,0\nG,job,600,1.4,70,0\n";

  ASSERT_EQ(sweep("F.csv", {"--gpu", "replay:" + path("in.csv") + "#G/job", "--grid", "sm=all"}), 0)
      << err();

  EXPECT_EQ(run({"evaluate", path("F.csv"), "--policy", "oracle"}), 0) << err();
}

TEST_F(SweepCommand, BadUsageIsToldInOneLine) {
  EXPECT_EQ(run({"sweep", "--", "true"}), 2);
  EXPECT_EQ(sweep("F.csv", {}), 2);
  EXPECT_NE(err().find("no job was given"), std::string::npos);
  EXPECT_EQ(sweep("F.csv", {"--gpu", "sim:h200", "--", "true"}), 2);
  EXPECT_EQ(sweep("F.csv", {"--gpu", "sim:h200", "--workload", "all"}), 2);
  EXPECT_EQ(sweep("F.csv", {"--gpu", "sim:h200", "--grid", "fast"}), 2);
  EXPECT_EQ(sweep("F.csv", {"--gpu", "sim:h200", "--workload", "nothing"}), 2);
  EXPECT_EQ(sweep("F.csv", {"--gpu", "sim:h200", "--grid", "mem=all,sm=1", "--warm-up", "-1s"}), 2);
  std::ofstream(path("F.csv")) << "mine\n";
  EXPECT_EQ(sweep("F.csv", {"--gpu", "sim:h200"}), 2);
  EXPECT_EQ(read("F.csv"), "mine\n");
}

TEST(SweepBar, TellsHowFarAndHowLong) {
  SweepProgress progress{
      .done = 5, .planned = 10, .refused = 1, .left = Seconds(300), .doing = "x"};

  EXPECT_EQ(bar_text(progress), "[##########----------] 5/10 windows, 1 left out, 5 min left, x");
}

}  // namespace
}  // namespace hypermile
