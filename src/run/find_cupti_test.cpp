// SPDX-License-Identifier: Apache-2.0
#include "run/find_cupti.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace hypermile {
namespace {

class FindCupti : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path) {
    std::filesystem::create_directories((root_ + path).substr(0, (root_ + path).rfind('/')));
    std::ofstream(root_ + path) << "x";
  }

  // One folder a test: tests run side by side.
  std::string root_ = ::testing::TempDir() + "hypermile_cupti_" +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name() + "/";
};

TEST_F(FindCupti, PrefersAToolkitOverPipAndTheNewestVersion) {
  put("usr/local/lib/python3.12/dist-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
  EXPECT_EQ(*find_cupti(root_),
            root_ + "usr/local/lib/python3.12/dist-packages/nvidia/cuda_cupti/lib/libcupti.so.12");

  put("usr/local/cuda-13.0/extras/CUPTI/lib64/libcupti.so.13");
  put("usr/local/cuda-12.4/extras/CUPTI/lib64/libcupti.so.12");
  EXPECT_EQ(*find_cupti(root_), root_ + "usr/local/cuda-13.0/extras/CUPTI/lib64/libcupti.so.13");
}

TEST_F(FindCupti, FindsNothingOnABareMachine) {
  EXPECT_FALSE(find_cupti(root_));
}

}  // namespace
}  // namespace hypermile
