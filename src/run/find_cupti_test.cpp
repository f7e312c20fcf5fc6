// SPDX-License-Identifier: Apache-2.0
#include "run/find_cupti.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace hypermile {
namespace {

namespace fs = std::filesystem;

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

TEST_F(FindCupti, ComparesVersionsByNumberNotByText) {
  put("usr/local/cuda-9.0/extras/CUPTI/lib64/libcupti.so.9");
  put("usr/local/cuda-13.0/extras/CUPTI/lib64/libcupti.so.13");

  EXPECT_EQ(*find_cupti(root_), root_ + "usr/local/cuda-13.0/extras/CUPTI/lib64/libcupti.so.13");
}

TEST_F(FindCupti, TakesTheNewestToolkitWhereFilesHaveOneName) {
  put("usr/local/cuda-9.0/extras/CUPTI/lib64/libcupti.so.1");
  put("usr/local/cuda-13.0/extras/CUPTI/lib64/libcupti.so.1");

  EXPECT_EQ(*find_cupti(root_), root_ + "usr/local/cuda-13.0/extras/CUPTI/lib64/libcupti.so.1");
}

TEST_F(FindCupti, FindsNothingOnABareMachine) {
  EXPECT_FALSE(find_cupti(root_));
}

class JobCuptiTest : public ::testing::Test {
 protected:
  JobCuptiTest() {
    std::string name = (fs::temp_directory_path() / "hypermile-cupti-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    touch("bin/python3");
    fs::permissions(root_ / "bin/python3", fs::perms::all);
  }
  ~JobCuptiTest() override { fs::remove_all(root_); }

  std::string touch(const std::string& path) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << "x";
    return (root_ / path).string();
  }

  fs::path root_;
};

TEST_F(JobCuptiTest, IsThatOfTheProgramsOwnPython) {
  touch("lib/python3.12/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
  const std::string newer = touch("lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13");
  Environment environment;
  environment.set("PATH", "/nowhere:" + (root_ / "bin").string());

  EXPECT_EQ(find_job_cupti("python3", environment), newer);
  EXPECT_EQ(find_job_cupti((root_ / "bin/python3").string(), environment), newer);
}

TEST_F(JobCuptiTest, IsTheNewestByNumber) {
  touch("lib/python3.12/site-packages/nvidia/cuda_cupti/lib/libcupti.so.9");
  const std::string newer = touch("lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13");

  EXPECT_EQ(find_job_cupti((root_ / "bin/python3").string(), {}), newer);
}

TEST_F(JobCuptiTest, IsThatOfTheActiveEnvironmentForAnyOtherProgram) {
  const std::string own =
      touch("lib/python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
  Environment environment;
  environment.set("PATH", "/bin");
  environment.set("VIRTUAL_ENV", root_.string());

  EXPECT_EQ(find_job_cupti("bash", environment), own);
}

TEST_F(JobCuptiTest, IsNotThereForProgramsWithoutOne) {
  EXPECT_EQ(find_job_cupti("python3", {}), std::nullopt);
  EXPECT_EQ(find_job_cupti((root_ / "bin/python3").string(), {}), std::nullopt);
  EXPECT_EQ(find_job_cupti("", {}), std::nullopt);
}

}  // namespace
}  // namespace hypermile
