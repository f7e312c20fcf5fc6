// SPDX-License-Identifier: Apache-2.0
#include "progress/spectrum/nvml_trace_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace hypermile {
namespace {

class TraceFile : public ::testing::Test {
 protected:
  Result<NvmlTrace> read(const std::string& text) {
    std::ofstream(path_) << text;
    return read_nvml_trace(path_);
  }
  std::string complaint(const std::string& text) {
    const auto trace = read(text);
    return trace ? "" : trace.error().message;
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string path_ = ::testing::TempDir() + "trace_" + std::to_string(::getpid()) + ".csv";
};

TEST_F(TraceFile, ReadsPolls) {
  const auto trace = read(
      "t_s,power_instant_mw,power_usage_mw,energy_mj,util_gpu,util_mem,sm_mhz\n"
      "0.01,584740,1,23474410,52,32,1980\n0.02,584741,1,nan,53,,1980\n");

  ASSERT_TRUE(trace.ok()) << trace.error().line();
  ASSERT_EQ(trace->power_w.size(), 2U);
  EXPECT_NEAR(trace->power_w[0].value, 584.74, 1e-9);
  ASSERT_EQ(trace->energy_j.size(), 1U);
  EXPECT_NEAR(trace->energy_j[0].value, 23474.41, 1e-9);
  EXPECT_EQ(trace->gpu_percent[1].value, 53);
  EXPECT_EQ(trace->memory_percent.size(), 1U);
}

TEST_F(TraceFile, ReadsBuffersInOrderOfTime) {
  const auto trace =
      read("kind,t_s,value\npower_mw,0.2,2000\nutil_gpu,0.1,30\npower_mw,0.1,1000\nother,0.3,1\n");

  ASSERT_TRUE(trace.ok()) << trace.error().line();
  ASSERT_EQ(trace->history_w.size(), 2U);
  EXPECT_EQ(trace->history_w[0].value, 1);
  EXPECT_EQ(trace->gpu_percent.size(), 1U);
  EXPECT_NEAR(trace->span_s(), 0.1, 1e-12);
}

TEST_F(TraceFile, NamesFileAndLineOfABrokenRow) {
  EXPECT_NE(complaint("t_s,power_instant_mw\n0,1\nx,2\n").find(path_ + ":3"), std::string::npos);
  EXPECT_NE(complaint("t_s,power_instant_mw\n0,many\n").find("'many'"), std::string::npos);
  EXPECT_NE(complaint("t_s,power_instant_mw\n,5\n").find("t_s is missing"), std::string::npos);
  EXPECT_NE(complaint("a,b\n1,2\n").find("expected the columns"), std::string::npos);
  EXPECT_NE(complaint("t_s,temp_c\n1,2\n").find("expected the columns"), std::string::npos);
  EXPECT_NE(complaint("t_s,power_instant_mw\n").find("no row with a power"), std::string::npos);
  EXPECT_FALSE(complaint("").empty());
  EXPECT_FALSE(complaint(std::string("\0\xff\x01garbage", 10)).empty());
}

TEST_F(TraceFile, SaysThatAFileCannotBeRead) {
  EXPECT_EQ(read_nvml_trace("/no/such/file.csv").error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(read_nvml_trace("/").ok());
}

}  // namespace
}  // namespace hypermile
