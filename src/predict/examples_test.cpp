// SPDX-License-Identifier: Apache-2.0
#include "predict/examples.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

namespace hypermile {
namespace {

class Examples : public testing::Test {
 protected:
  std::string file(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }
  void TearDown() override { std::remove(path_.c_str()); }

  // Tests run beside each other, each in a process of its own.
  std::string path_ = testing::TempDir() + "examples_" + std::to_string(::getpid()) + ".csv";
};

constexpr const char* kHeader =
    "gpu,workload,sm_mhz,mem_mhz,time_s,power_w,is_default,dram_active\n";

TEST_F(Examples, AreRatiosToTheDefaultWithItsFeatures) {
  const auto set = read_examples({file(std::string(kHeader) + "g,w,1000,500,2,100,1,0.4\n"
                                                              "g,w,800,500,2.2,80,0,0.9\n")});

  ASSERT_TRUE(set) << set.error().line();
  ASSERT_EQ(set->examples.size(), 1U);
  const Example& job = set->examples[0];
  EXPECT_EQ(job.features.get(Feature::kDramActive), 0.4);
  EXPECT_DOUBLE_EQ(job.points[0].at.sm, 0.8);
  EXPECT_DOUBLE_EQ(job.points[0].time, 1.1);
  EXPECT_DOUBLE_EQ(job.points[0].energy, 0.88);
  EXPECT_TRUE(set->problems.empty());
}

TEST_F(Examples, ReportsBadRowsByFileAndLineAndUsesTheRest) {
  const auto set = read_examples({file(std::string(kHeader) + "g,w,1000,500,2,100,1,0.4\n"
                                                              "g,w,900,500,oops,90,0,0.4\n"
                                                              "g,w,880,500,0,90,0,0.4\n"
                                                              "g,w,860,500,-1,90,0,0.4\n"
                                                              "g,w,840,500,nan,90,0,0.4\n"
                                                              "g,w,820,500,2.1\n"
                                                              "g,w,800,500,2.2,80,0,many\n")});

  ASSERT_TRUE(set) << set.error().line();
  EXPECT_EQ(set->examples[0].points.size(), 1U);
  ASSERT_EQ(set->problems.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NE(set->problems[i].find(path_ + ":" + std::to_string(i + 3)), std::string::npos)
        << set->problems[i];
  }
  EXPECT_NE(set->problems[0].find("'oops'"), std::string::npos);
  EXPECT_NE(set->problems[5].find("dram_active"), std::string::npos);
}

TEST_F(Examples, AverageDuplicatedDefaults) {
  const auto set = read_examples({file(std::string(kHeader) + "g,w,1000,500,2,100,1,0.4\n"
                                                              "g,w,1000,500,4,100,1,0.6\n"
                                                              "g,w,800,500,6,100,0,0.4\n")});

  ASSERT_TRUE(set) << set.error().line();
  EXPECT_DOUBLE_EQ(*set->examples[0].features.get(Feature::kDramActive), 0.5);
  EXPECT_DOUBLE_EQ(set->examples[0].points[0].time, 2);
}

TEST_F(Examples, RefuseAFileWithNothingToLearnFrom) {
  const auto one_row = read_examples({file(std::string(kHeader) + "g,w,1000,500,2,100,1,0.4\n")});
  const auto no_default = read_examples({file(std::string(kHeader) + "g,w,1000,500,2,100,0,0.4\n"
                                                                     "g,w,900,500,2,100,0,0.4\n")});
  const auto no_column = read_examples({file("gpu,workload,power_w,is_default\ng,w,1,1\n")});
  const auto empty = read_examples({file("")});
  const auto absent = read_examples({"/no/such/file.csv"});

  ASSERT_FALSE(one_row);
  EXPECT_NE(one_row.error().line().find(path_), std::string::npos);
  EXPECT_FALSE(no_default);
  ASSERT_FALSE(no_column);
  EXPECT_NE(no_column.error().line().find("time_s"), std::string::npos);
  EXPECT_FALSE(empty);
  EXPECT_FALSE(absent);
}

TEST_F(Examples, LeaveOutRatiosThatCannotBe) {
  const auto set = read_examples({file(std::string(kHeader) + "g,w,1000,500,2,100,1,0.4\n"
                                                              "g,w,900,500,2000,100,0,0.4\n"
                                                              "g,w,800,500,2.2,80,0,0.4\n")});

  ASSERT_TRUE(set) << set.error().line();
  EXPECT_EQ(set->examples[0].points.size(), 1U);
  EXPECT_EQ(set->problems.size(), 1U);
}

TEST(WorkloadGroup, IsTheNameWithoutItsInput) {
  EXPECT_EQ(workload_group("mixbench_input007"), "mixbench");
  EXPECT_EQ(workload_group("stencil2d#2"), "stencil2d");
  EXPECT_EQ(workload_group("resnet50"), "resnet50");
  EXPECT_EQ(workload_group("_input1"), "_input1");
  EXPECT_EQ(workload_group(""), "");
}

}  // namespace
}  // namespace hypermile
