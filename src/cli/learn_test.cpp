// SPDX-License-Identifier: Apache-2.0
//
// `learn` and `predict` as scripts see them: the documents of the contract, exit codes, messages.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "testing/cli_fixture.h"
#include "testing/scratch_folder.h"

namespace hypermile {
namespace {

class Learn : public CliTest {
 protected:
  void SetUp() override {
    std::ofstream sweep(sweep_path());
    sweep << "gpu,workload,sm_mhz,time_s,power_w,is_default,dram_active,fp32_active\n";
    for (int job = 0; job < 8; ++job) {
      const double core = 0.1 + 0.1 * job;
      for (const int mhz : {1000, 900, 800, 700, 600}) {
        const double s = mhz / 1000.0;
        sweep << "G,job" << static_cast<char>('a' + job) << "," << mhz << ","
              << 1 + core * (1 / s - 1) << "," << 40 + 60 * s * s << "," << (mhz == 1000 ? 1 : 0)
              << "," << 1 - core << "," << core << "\n";
      }
    }
  }

  std::string sweep_path() const { return (folder_ / "data.csv").string(); }
  std::string model_path() const { return (folder_ / "model.json").string(); }

  nlohmann::json document() const { return nlohmann::json::parse(out()); }

  const ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.path();
};

TEST_F(Learn, WritesAModelThatPredictAnswersFromWithTheKeysOfTheContract) {
  ASSERT_EQ(run({"learn", sweep_path(), "--out", model_path(), "--json"}), 0) << err();
  EXPECT_EQ(document()["workloads"], 8);

  ASSERT_EQ(run({"predict", "--model", model_path(), "--check", sweep_path(), "--json"}), 0)
      << err();

  const nlohmann::json check = document();
  EXPECT_EQ(check["rows"], 32);
  EXPECT_EQ(check["workloads"], 8);
  EXPECT_LT(check["time_mae"], 0.03);
  EXPECT_LT(check["time_mae"], check["baseline_mean_curve"]["time_mae"]);
  EXPECT_TRUE(check["baseline_mean_curve"].contains("energy_mae"));
  EXPECT_TRUE(check.contains("energy_mae"));
  EXPECT_GE(check["coverage90"], 0.5);
  EXPECT_GE(check["time_within"], 0.5);
  EXPECT_GT(check["energy_width"], 0);
}

TEST_F(Learn, PredictShowsCurvesAndWhatAnObjectiveWouldChoose) {
  ASSERT_EQ(run({"learn", sweep_path(), "--out", model_path(), "--kind", "analytic"}), 0);

  ASSERT_EQ(run({"predict", "--model", model_path(), sweep_path(), "--json"}), 0) << err();

  const nlohmann::json jobs = document()["jobs"];
  ASSERT_EQ(jobs.size(), 8U);
  // The first job hardly feels the clock, the last is bound by it.
  EXPECT_LT(jobs[0]["best"]["sm"], 0.85);
  EXPECT_TRUE(jobs[7]["best"].is_null() || jobs[7]["best"]["sm"] > 0.9);
  EXPECT_EQ(run({"predict", "--model", model_path(), sweep_path()}), 0);
  EXPECT_NE(out().find("best"), std::string::npos);
}

TEST_F(Learn, TellsABadRowAndUsesTheRest) {
  std::ofstream(sweep_path(), std::ios::app) << "G,joba,950,zero,50,0,0.1,0.1\n";

  ASSERT_EQ(run({"learn", sweep_path(), "--out", model_path(), "--kind", "analytic", "--json"}), 0);

  EXPECT_EQ(document()["problems"], 1);
  EXPECT_NE(err().find("data.csv:42: time_s"), std::string::npos) << err();
}

TEST_F(Learn, BadUsageIsToldInOneLine) {
  EXPECT_EQ(run({"learn", "--out", model_path()}), 2);
  EXPECT_EQ(run({"learn", sweep_path()}), 2);
  EXPECT_EQ(run({"learn", sweep_path(), "--out", model_path(), "--kind", "magic"}), 2);
  EXPECT_EQ(run({"learn", "/nonexistent.csv", "--out", model_path()}), 1);
  EXPECT_EQ(run({"predict", sweep_path()}), 2);
  EXPECT_EQ(run({"predict", "--model", sweep_path(), sweep_path()}), 1);
  EXPECT_NE(err().find("data.csv is truncated or not JSON"), std::string::npos);
}

}  // namespace
}  // namespace hypermile
