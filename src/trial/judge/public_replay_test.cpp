// SPDX-License-Identifier: Apache-2.0
//
// Floors for the policy hypermile on public sweeps, which are not part of the repository. The
// folder is HYPERMILE_MEASURED_DATA, or ../shared/data/measured next to the source tree. Skipped
// where it does not exist.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "trial/judge/summary.h"
#include "trial/judge/tournament.h"

namespace hypermile {
namespace {

std::filesystem::path measured_data() {
  if (const char* path = std::getenv("HYPERMILE_MEASURED_DATA")) return path;
  const char* source = std::getenv("HYPERMILE_SOURCE_DIR");
  return std::filesystem::path(source ? source : ".") / "../shared/data/measured";
}

class PublicReplay : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(measured_data())) {
      GTEST_SKIP() << "no measured data at " << measured_data();
    }
  }

  PolicySummary judge(const std::string& set, const CurveOptions& options) {
    const auto file = read_sweep((measured_data() / set / "data.csv").string());
    EXPECT_TRUE(file.ok());
    const CurveSet curves = make_curves(*file, options);
    const std::vector<std::string> policies = {"hypermile"};
    const auto runs = hold_tournament(curves.curves, policies, 2, Conditions{});
    EXPECT_TRUE(runs.ok());
    return summarise(*runs).front();
  }
};

TEST_F(PublicReplay, TrainingJobsOnAV100KeepTheBoundAndGetMostOfTheSaving) {
  const PolicySummary summary =
      judge("zyj_v100_33workloads", {.knobs = {Knob::kSmClock}, .step = Mhz(15)});

  EXPECT_GE(summary.share_of_oracle, 0.86);
  EXPECT_LE(summary.violations_final, summary.runs / 20);
  EXPECT_LE(summary.violations_job, summary.runs / 20);
}

TEST_F(PublicReplay, AGridOfSmAndMemoryClocksIsSearchedMemoryFirst) {
  const PolicySummary summary = judge("rtx3080ti_kernels", {});

  EXPECT_GE(summary.share_of_oracle, 0.8);
  EXPECT_LE(summary.violations_job, 2U);
}

}  // namespace
}  // namespace hypermile
