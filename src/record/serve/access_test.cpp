// SPDX-License-Identifier: Apache-2.0
#include "record/serve/access.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace hypermile {
namespace {

const ListenAddress kHere{"127.0.0.1", 1};
const ListenAddress kAnywhere{"0.0.0.0", 1};
const std::string kToken = "0123456789abcdef";
using Verdict = Access::Verdict;

TEST(Access, RefusesToBeReachedFromElsewhereWithoutAToken) {
  const auto access = Access::make(kAnywhere, "");

  ASSERT_FALSE(access.ok());
  EXPECT_EQ(access.error().code, ErrorCode::kUsage);
  EXPECT_NE(access.error().remedy.find("--token-file"), std::string::npos);
}

TEST(Access, LetsInWhoShowsTheWholeToken) {
  const auto access = Access::make(kAnywhere, kToken);
  ASSERT_TRUE(access.ok());

  EXPECT_EQ(access->judge("node7:1", "Bearer " + kToken), Verdict::kAllowed);
  EXPECT_EQ(access->judge("node7:1", ""), Verdict::kNoToken);
  EXPECT_EQ(access->judge("node7:1", "Bearer "), Verdict::kNoToken);
  EXPECT_EQ(access->judge("node7:1", "Bearer " + kToken + "0"), Verdict::kNoToken);
  EXPECT_EQ(access->judge("node7:1", kToken), Verdict::kNoToken);
  EXPECT_EQ(access->judge("node7:1", "Basic " + kToken), Verdict::kNoToken);
}

TEST(Access, OnLoopbackAnswersOnlyToNamesOfThisMachine) {
  const auto access = Access::make(kHere, "");
  ASSERT_TRUE(access.ok());

  EXPECT_EQ(access->judge("127.0.0.1:9487", ""), Verdict::kAllowed);
  EXPECT_EQ(access->judge("localhost:9487", ""), Verdict::kAllowed);
  EXPECT_EQ(access->judge("[::1]:9487", ""), Verdict::kAllowed);
  EXPECT_EQ(access->judge("evil.example:9487", ""), Verdict::kStrangeHost);
  EXPECT_EQ(access->judge("", ""), Verdict::kStrangeHost);
}

TEST(TokenFile, MustBeItsOwnersAloneAndLongEnough) {
  const std::string path = testing::TempDir() + "token-" + std::to_string(::getpid());
  EXPECT_EQ(read_token_file(path).error().code, ErrorCode::kNotFound);
  std::ofstream(path) << kToken << "\n";
  ::chmod(path.c_str(), 0644);
  EXPECT_EQ(read_token_file(path).error().code, ErrorCode::kPermission);
  ::chmod(path.c_str(), 0600);

  EXPECT_EQ(*read_token_file(path), kToken);

  std::ofstream(path) << "short\n";
  EXPECT_EQ(read_token_file(path).error().code, ErrorCode::kUsage);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace hypermile
