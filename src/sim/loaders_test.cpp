// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/data_file.h"
#include "testing/sim_fixture.h"

namespace hypermile {
namespace {

std::string text_of(const std::string& relative) {
  std::ifstream file(find_data_file(relative).value());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

std::string sheet_error(const std::string& text) {
  const Result<GpuSheet> sheet = parse_gpu_sheet(text, "x.toml");
  return sheet ? "no error" : sheet.error().line();
}

std::string workload_error(const std::string& text) {
  const Result<Workload> workload = parse_workload(text, "x.toml");
  return workload ? "no error" : workload.error().line();
}

TEST(GpuSheets, AllTenAreThereAndReadable) {
  for (const char* key : {"rtx3080ti", "a4000", "rtx2000ada", "v100-pcie", "v100-sxm2", "a100-40",
                          "a100-80", "a40", "h100", "h200"}) {
    const Result<GpuSheet> sheet = load_gpu_sheet(key);

    ASSERT_TRUE(sheet) << sheet.error().line();
    EXPECT_EQ(sheet->key, key);
    EXPECT_FALSE(sheet->sm_clocks().empty());
  }
}

TEST(GpuSheets, ListsClocksAsNvmlDoes) {
  const GpuSheet sheet = sheet_of("h200");

  EXPECT_EQ(sheet.sm_clocks().front(), Mhz(1980));
  EXPECT_EQ(sheet.sm_clocks().back(), Mhz(345));
  EXPECT_EQ(sheet.sm_clocks().size(), 110U);
  EXPECT_EQ(sheet.memory_clocks(), (std::vector<Mhz>{Mhz(3201), Mhz(2201)}));
}

TEST(GpuSheets, SuggestsTheNearestNames) {
  const Result<GpuSheet> sheet = load_gpu_sheet("a100-30");

  ASSERT_FALSE(sheet);
  EXPECT_EQ(sheet.error().code, ErrorCode::kUsage);
  EXPECT_NE(sheet.error().line().find("a100-40"), std::string::npos) << sheet.error().line();
}

TEST(GpuSheets, ErrorsNameFileAndLine) {
  const std::string good = text_of("gpus/h200.toml");

  EXPECT_EQ(sheet_error(good), "no error");
  EXPECT_NE(sheet_error(replaced(good, "sm_step = 15", "sm_step = \"x\""))
                .find("x.toml:17: [clocks] sm_step must be a number"),
            std::string::npos)
      << sheet_error(replaced(good, "sm_step = 15", "sm_step = \"x\""));
  EXPECT_NE(sheet_error(replaced(good, "sm_step = 15", "")).find("[clocks] has no sm_step"),
            std::string::npos);
  EXPECT_NE(sheet_error(replaced(good, "sm_step = 15", "sm_step = -15")).find("must be from"),
            std::string::npos);
  EXPECT_NE(sheet_error(replaced(good, "fixed =", "fixd =")).find("fixed"), std::string::npos);
  EXPECT_NE(sheet_error(replaced(good, "peak =", "peek =")).find("unknown key peek"),
            std::string::npos);
  EXPECT_NE(sheet_error(replaced(good, "memory_default = 3201", "memory_default = 3200"))
                .find("one of memory"),
            std::string::npos);
  EXPECT_NE(sheet_error(good + "\n[limit").find("x.toml:"), std::string::npos);
  EXPECT_NE(sheet_error("").find("has no gpu"), std::string::npos);
}

TEST(Workloads, EveryFileThatComesWithTheProgramIsReadable) {
  for (const char* group : {"all", "field"}) {
    EXPECT_GE(workloads_named(group).size(), 2U);
    for (const std::string& key : workloads_named(group)) {
      const Result<Workload> workload = load_workload(key);

      EXPECT_TRUE(workload) << workload.error().line();
    }
  }
}

TEST(Workloads, GroupsAreTheSuiteThePapersPartOfItAndTheJobsFromTheField) {
  const std::vector<std::string> all = workloads_named("all");
  const auto in_suite = [&](const char* key) { return std::ranges::find(all, key) != all.end(); };

  EXPECT_EQ(all.size(), 97U) << "published tables compare these";
  EXPECT_EQ(workloads_named("paper").size(), 72U);
  EXPECT_TRUE(in_suite("resnet50"));
  EXPECT_FALSE(in_suite("jax_bursts"));
  EXPECT_EQ(workloads_named("resnet50"), std::vector<std::string>{"resnet50"});
}

TEST(Workloads, ReadsWhatTheFileSays) {
  const Workload workload = workload_of("gpt2");

  EXPECT_EQ(workload.load.micro_batches, 8U);
  EXPECT_EQ(workload.load.phase_count, 2U);
  EXPECT_EQ(workload.load.phases[0].part_count, 3U);
  EXPECT_TRUE(workload.load.phases[0].parts[1].each_micro_batch);
  EXPECT_EQ(workload.load.phases[1].every, 500U);
  EXPECT_EQ(std::string(workload.load.phases[0].parts[2].name.data()), "optimizer");
}

TEST(Workloads, ErrorsNameFileAndLine) {
  const std::string good = text_of("workloads/gpt2.toml");

  EXPECT_EQ(workload_error(good), "no error");
  EXPECT_NE(workload_error(replaced(good, "every = 500", "evry = 500")).find("every"),
            std::string::npos);
  EXPECT_NE(workload_error(replaced(good, "bf16 = 2180.0", "bf17 = 2180.0")).find("bf17"),
            std::string::npos);
  EXPECT_NE(
      workload_error(replaced(good, "kind = \"normal\"", "kind = \"gamma\"")).find("kind must be"),
      std::string::npos);
  EXPECT_NE(
      workload_error(replaced(good, "micro_batches = 8", "micro_batches = 0")).find("x.toml:9"),
      std::string::npos)
      << workload_error(replaced(good, "micro_batches = 8", "micro_batches = 0"));
  EXPECT_NE(workload_error("title = \"a\"\nfamily = \"b\"").find("has no phase"),
            std::string::npos);
  EXPECT_NE(workload_error("title = 3").find("must be text"), std::string::npos);
  EXPECT_NE(
      workload_error(
          "title = \"a\"\nfamily = \"b\"\n[[phase]]\nname = \"t\"\n[[phase.part]]\nname = \"p\"")
          .find("takes no time"),
      std::string::npos);
  EXPECT_NE(workload_error("\x01\xff").find("x.toml:1"), std::string::npos);
}

TEST(Workloads, WhatAHostLaunchesAheadMustFitBetweenItsPhases) {
  const std::string good = text_of("workloads/field/jax_bursts.toml");

  EXPECT_EQ(workload_error(good), "no error");
  EXPECT_NE(workload_error(replaced(good, "every = 10", "every = 15")).find("multiple"),
            std::string::npos);
  EXPECT_NE(
      workload_error(replaced(good, "dispatch_ahead = 10", "dispatch_ahead = 10\naperiodic = true"))
          .find("dispatch_ahead"),
      std::string::npos);
}

TEST(Workloads, PartsThatShareKernelsHaveNoMoreThanTheFirstOfThem) {
  const std::string good = text_of("workloads/field/short_epochs.toml");
  const Load load = parse_workload(good, "x.toml")->load;

  EXPECT_EQ(load.phases[2].parts[0].first_kernel, load.phases[0].parts[0].first_kernel);
  EXPECT_EQ(load.phases[0].parts[1].first_kernel, 23U);
  const std::size_t second = good.rfind("kernel_kinds = 22");
  EXPECT_NE(workload_error(std::string(good).replace(second, 17, "kernel_kinds = 23"))
                .find("must be from 1 to 22"),
            std::string::npos);
}

TEST(Workloads, MicroBatchPartsMustComeFirst) {
  const std::string text =
      "title = \"a\"\nfamily = \"b\"\n[[phase]]\nname = \"t\"\n[[phase.part]]\nname = \"o\"\ngbyte "
      "= 1\n"
      "[[phase.part]]\nname = \"f\"\ngbyte = 1\neach_micro_batch = true\n";

  EXPECT_NE(workload_error(text).find("must come before"), std::string::npos);
}

}  // namespace
}  // namespace hypermile
