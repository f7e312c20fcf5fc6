// SPDX-License-Identifier: Apache-2.0
#include "cli/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "testing/scratch_folder.h"

namespace hypermile {
namespace {

class Evaluate : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(folder_ / "data.csv") << "gpu,workload,sm_mhz,time_s,power_w,is_default\n"
                                           "G,slow,1000,1.00,100,1\nG,slow,900,1.04,80,0\n"
                                           "G,slow,800,1.20,60,0\nG,flat,1000,1.00,100,1\n"
                                           "G,flat,900,1.01,90,0\nG,flat,800,,80,0\n";
  }

  EvaluateOptions options(std::vector<std::string> policies) const {
    EvaluateOptions options;
    options.sweeps = {(folder_ / "data.csv").string()};
    options.policies = std::move(policies);
    return options;
  }

  const ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.path();
};

TEST_F(Evaluate, NobodyPredictsWithoutAModel) {
  EvaluateOptions without = options({"gpoeo"});
  without.model = "none";
  EXPECT_TRUE(run_evaluate(without).ok());

  EvaluateOptions missing = options({"gpoeo"});
  missing.model = (folder_ / "nothing.json").string();
  EXPECT_NE(run_evaluate(missing).error().line().find("nothing.json"), std::string::npos);

  without.controller = true;
  EXPECT_EQ(run_evaluate(without).error().code, ErrorCode::kUsage);
}

TEST_F(Evaluate, TheDocumentHasEveryKeyOfTheContract) {
  const auto evaluation = run_evaluate(options({"default", "oracle"}));

  ASSERT_TRUE(evaluation.ok()) << evaluation.error().line();
  const nlohmann::json document = to_json(*evaluation);
  ASSERT_EQ(document["runs"].size(), 4U);
  for (const char* key : {"gpu", "workload", "phase", "policy", "oracle_saved_pct", "saved_pct",
                          "slowdown_pct", "final_setting", "final_saved_pct", "final_slowdown_pct",
                          "probes", "violated_job", "violated_final"}) {
    EXPECT_TRUE(document["runs"][0].contains(key)) << key;
  }
  for (const char* key : {"policy", "runs", "mean_oracle_saved_pct", "mean_saved_pct",
                          "share_of_oracle", "mean_slowdown_pct", "max_slowdown_pct",
                          "violations_job", "violations_final", "mean_probes"}) {
    EXPECT_TRUE(document["summary"][0].contains(key)) << key;
  }
  EXPECT_EQ(document["rows_without_time"], 1);
}

TEST_F(Evaluate, TheOracleGetsExactlyItsShareAndTheDefaultNothing) {
  const auto evaluation = run_evaluate(options({"default", "oracle"}));

  ASSERT_TRUE(evaluation.ok());
  EXPECT_EQ(evaluation->summary[0].share_of_oracle, 0);
  EXPECT_NEAR(evaluation->summary[1].share_of_oracle, 1, 1e-12);
  // 1.04 * 0.8 and 1.01 * 0.9.
  EXPECT_NEAR(evaluation->summary[1].mean_saved, (0.168 + 0.091) / 2, 1e-12);
  EXPECT_NE(to_table(*evaluation).find("oracle"), std::string::npos);
}

TEST_F(Evaluate, ACurveListKeepsOnlyWhatItNames) {
  std::ofstream(folder_ / "list.csv") << "set,gpu,workload\n"
                                      << folder_.filename().string() << ",G,flat\n";
  EvaluateOptions chosen = options({"default"});
  chosen.curve_list = (folder_ / "list.csv").string();
  const auto evaluation = run_evaluate(chosen);

  ASSERT_TRUE(evaluation.ok());
  ASSERT_EQ(evaluation->runs.size(), 1U);
  EXPECT_EQ(evaluation->runs[0].key.workload, "flat");
}

TEST_F(Evaluate, ImpossibleOptionsGetOneClearLine) {
  EvaluateOptions bad = options({"default"});
  bad.conditions.iterations = 0;
  EXPECT_EQ(run_evaluate(bad).error().code, ErrorCode::kUsage);

  bad = options({"nonesuch"});
  EXPECT_EQ(run_evaluate(bad).error().code, ErrorCode::kUsage);

  bad = options({"default"});
  bad.conditions.time_noise = std::nan("");
  EXPECT_EQ(run_evaluate(bad).error().code, ErrorCode::kUsage);

  bad = options({"default"});
  bad.sweeps = {"/nonexistent.csv"};
  EXPECT_EQ(run_evaluate(bad).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace hypermile
