// SPDX-License-Identifier: Apache-2.0
#include "sweep/sweep_file.h"

#include <gtest/gtest.h>

#include <sstream>

namespace hypermile {
namespace {

Result<SweepFile> read(const std::string& text) {
  std::istringstream in(text);
  return read_sweep(in, "s.csv");
}

TEST(ReadSweep, ReadsSettingTimePowerAndIdentity) {
  const auto file = read(
      "gpu,workload,phase_or_kernel,sm_mhz,mem_mhz,power_limit_w,time_s,power_w,is_default,"
      "batch_size\n"
      "A100,bert,train,1410,1593,400,0.5,300,1,32\n");

  ASSERT_TRUE(file.ok()) << file.error().line();
  const SweepRow& row = file->rows.at(0);
  EXPECT_EQ(to_string(row.key), "A100/bert/train [batch_size=32]");
  EXPECT_EQ(to_string(row.setting), "sm=1410MHz mem=1593MHz limit=400W");
  EXPECT_EQ(row.time, Seconds(0.5));
  EXPECT_EQ(row.power, Watts(300));
  EXPECT_TRUE(row.is_default);
}

TEST(ReadSweep, TakesTheLockedClockAsTheSettingAndTheOtherAsSeen) {
  const auto file = read(
      "gpu,workload,sm_mhz,sm_mhz_locked,time_s,power_w,is_default\n"
      "g,w,1863.7,2505,1,70,0\n"
      "g,w,1851.2,-1,1,71,1\n");

  ASSERT_TRUE(file.ok()) << file.error().line();
  EXPECT_EQ(file->rows[0].setting.sm_clock, Mhz(2505));
  EXPECT_EQ(file->rows[0].sm_seen, Mhz(1863.7));
  EXPECT_TRUE(file->rows[1].setting.empty()) << "-1 means not locked";
}

TEST(ReadSweep, CountsRowsWithoutTimeOrPower) {
  const auto file = read(
      "gpu,workload,sm_mhz,time_s,power_w,is_default\n"
      "g,w,1000,,50,0\n"
      "g,w,1000,1,,0\n"
      "g,w,1000,1,50,1\n");

  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->rows.size(), 1U);
  EXPECT_EQ(file->rows_without_time, 1U);
  EXPECT_EQ(file->rows_without_power, 1U);
}

TEST(ReadSweep, SaysFileLineAndColumnOfABrokenCell) {
  EXPECT_EQ(
      read("gpu,workload,time_s,power_w,is_default\ng,w,1,50,1\ng,w,fast,50,0\n").error().line(),
      "s.csv:3: time_s: expected a number above zero, found 'fast'");
  EXPECT_EQ(read("gpu,workload,time_s,power_w,is_default\ng,w,1,-5,0\n").error().line(),
            "s.csv:2: power_w: expected a number above zero, found '-5'");
  EXPECT_EQ(read("gpu,workload,sm_mhz,time_s,power_w,is_default\ng,w,1e300,1,5,0\n").error().line(),
            "s.csv:2: sm_mhz: expected at most 100000, found '1e300'");
  EXPECT_EQ(read("gpu,workload,time_s,power_w,is_default\ng,w,1,5,yes\n").error().line(),
            "s.csv:2: is_default: expected 0 or 1, found 'yes'");
}

TEST(ReadSweep, NamesTheColumnsThatAreMissing) {
  EXPECT_EQ(
      read("gpu,time_s\n").error().line(),
      "s.csv:1: the header lacks the column(s) workload, power_w, is_default; a sweep has one "
      "row per GPU, job and setting; see docs/reference/sweep-file.md");
}

TEST(ReadSweep, SaysWhenTheFileDoesNotExist) {
  EXPECT_EQ(read_sweep("/nonexistent/s.csv").error().code, ErrorCode::kNotFound);
}

TEST(ReadSweep, WhenTolerantReportsBrokenRowsAndContinues) {
  std::istringstream in(
      "gpu,workload,time_s,power_w,is_default\ng,w,1,50,1\ng,w,fast,50,0\ng,w\ng,w,2,40,0\n");

  const auto file = read_sweep(in, "s.csv", {true, {}});

  ASSERT_TRUE(file.ok()) << file.error().line();
  EXPECT_EQ(file->rows.size(), 2U);
  EXPECT_EQ(file->rows[1].line, 5U);
  ASSERT_EQ(file->problems.size(), 2U);
  EXPECT_EQ(file->problems[0],
            "s.csv:3: time_s: expected a number above zero, found 'fast'; the row is left out");
  EXPECT_TRUE(file->problems[1].starts_with("s.csv:4: expected 5 cells"));
}

TEST(ReadSweep, ReadsFurtherNumbersWhereTheFileHasThem) {
  std::istringstream in(
      "gpu,workload,time_s,power_w,is_default,a,b\ng,w,1,50,1,0.5,\ng,w,2,40,0,x,3\n");

  const auto file = read_sweep(in, "s.csv", {false, {"a", "b", "absent"}});

  ASSERT_TRUE(file.ok()) << file.error().line();
  using Numbers = std::vector<std::optional<double>>;
  EXPECT_EQ(file->rows[0].numbers, (Numbers{0.5, std::nullopt, std::nullopt}));
  EXPECT_EQ(file->rows[1].numbers, (Numbers{std::nullopt, 3, std::nullopt}));
  EXPECT_EQ(file->problems.size(), 1U);
}

}  // namespace
}  // namespace hypermile
