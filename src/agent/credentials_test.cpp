// SPDX-License-Identifier: Apache-2.0
#include "agent/credentials.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace hypermile {
namespace {

class SecretCredentialsTest : public ::testing::Test {
 protected:
  SecretCredentialsTest() {
    char name[] = "/tmp/hypermile-secret-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~SecretCredentialsTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& content, mode_t mode = 0600) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << content;
    ::chmod(path.c_str(), mode);
    return path;
  }

  std::string folder_;
};

TEST_F(SecretCredentialsTest, ProvesOnlyTheStatementThatItWasMadeForAndOnlyWithTheSecret) {
  const auto ours = make_secret_credentials(file("a", std::string(32, 's')));
  const auto theirs = make_secret_credentials(file("b", std::string(32, 't')));
  ASSERT_TRUE(ours && theirs);
  const std::string statement = statement_of("12.0", "node 1", "nonce");
  const std::string credential = *(*ours)->make(statement);

  EXPECT_EQ(credential.find_first_not_of("0123456789abcdef"), std::string::npos) << "it is sent";
  EXPECT_TRUE((*ours)->check(credential, statement));
  EXPECT_FALSE((*ours)->check(credential, statement_of("12.0", "node 1", "other")));
  EXPECT_FALSE((*ours)->check(credential, statement_of("12.0", "coordinator", "nonce")));
  EXPECT_FALSE((*ours)->check("", statement));
  EXPECT_FALSE((*ours)->check(credential + "x", statement));
  EXPECT_FALSE((*theirs)->check(credential, statement));
}

TEST_F(SecretCredentialsTest, RefusesAFileThatOthersMayReadThatIsShortOrThatIsALink) {
  EXPECT_FALSE(make_secret_credentials(file("open", std::string(32, 's'), 0640)));
  EXPECT_FALSE(make_secret_credentials(file("short", "secret")));
  EXPECT_FALSE(make_secret_credentials(folder_ + "/missing"));
  std::filesystem::create_symlink(file("good", std::string(32, 's')), folder_ + "/link");
  EXPECT_FALSE(make_secret_credentials(folder_ + "/link"));
}

TEST_F(SecretCredentialsTest, AgentsOfOneMachineShareASecretThatTheFirstOneMakes) {
  const auto first = make_loopback_credentials(folder_);
  const auto second = make_loopback_credentials(folder_);
  ASSERT_TRUE(first && second);

  EXPECT_TRUE((*second)->check(*(*first)->make("x"), "x"));
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_EQ(entry.status().permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    ::chmod(entry.path().c_str(), 0644);
  }
  EXPECT_FALSE(make_loopback_credentials(folder_)) << "others may have read it";
}

}  // namespace
}  // namespace hypermile
