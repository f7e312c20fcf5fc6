// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/job_rights.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace hypermile {
namespace {

const GpuUuid kFirst("GPU-1"), kSecond("GPU-2");

class JobRightsTest : public ::testing::Test {
 protected:
  JobRightsTest() {
    char name[] = "/tmp/hypermile-rights-XXXXXX";
    state_ = ::mkdtemp(name);
  }
  ~JobRightsTest() override { std::filesystem::remove_all(state_); }

  std::string state_;
};

TEST_F(JobRightsTest, AllowsTheJobsUserTheJobsGpusUntilTheyAreTakenAway) {
  ASSERT_TRUE(grant_job(state_, {"12", 1000, {kFirst}}));

  EXPECT_TRUE(job_allows(state_, 1000, kFirst));
  EXPECT_FALSE(job_allows(state_, 1000, kSecond));
  EXPECT_FALSE(job_allows(state_, 1001, kFirst));

  const Result<JobRight> taken = revoke_job(state_, "12");
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->gpus, std::set<GpuUuid>({kFirst}));
  EXPECT_FALSE(job_allows(state_, 1000, kFirst));
  EXPECT_EQ(revoke_job(state_, "12").error().code, ErrorCode::kNotFound);
}

TEST_F(JobRightsTest, AGpuThatTwoJobsShareIsNobodys) {
  ASSERT_TRUE(grant_job(state_, {"12", 1000, {kFirst, kSecond}}));
  ASSERT_TRUE(grant_job(state_, {"13", 1000, {kSecond}}));

  EXPECT_TRUE(job_allows(state_, 1000, kFirst));
  EXPECT_FALSE(job_allows(state_, 1000, kSecond));
  EXPECT_EQ(shared_gpus(state_, {"13", 1000, {kSecond}}), std::set<GpuUuid>({kSecond}));
  EXPECT_TRUE(shared_gpus(state_, {"14", 1000, {GpuUuid("GPU-3")}}).empty());
}

TEST_F(JobRightsTest, FilesThatOthersMayWriteOrThatAreBrokenGrantNothing) {
  ASSERT_TRUE(grant_job(state_, {"12", 1000, {kFirst}}));
  ::chmod((state_ + "/jobs/12").c_str(), 0666);
  std::ofstream(state_ + "/jobs/13") << "uid 99999999999 gpu GPU-2\n";
  ::chmod((state_ + "/jobs/13").c_str(), 0600);

  EXPECT_FALSE(job_allows(state_, 1000, kFirst));
  EXPECT_FALSE(job_allows(state_, 0, kSecond));
}

TEST_F(JobRightsTest, RefusesNamesThatLeadElsewhere) {
  for (const char* job : {"", "../12", "a/b", ".", "1 2"}) {
    EXPECT_FALSE(grant_job(state_, {job, 1000, {kFirst}})) << job;
    EXPECT_FALSE(revoke_job(state_, job)) << job;
  }
}

TEST_F(JobRightsTest, WithoutAFolderNobodyHasARight) {
  EXPECT_FALSE(job_allows(state_ + "/missing", 0, kFirst));
}

}  // namespace
}  // namespace hypermile
