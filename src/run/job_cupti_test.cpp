// SPDX-License-Identifier: Apache-2.0
#include "run/job_cupti.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace hypermile {
namespace {

namespace fs = std::filesystem;

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
