// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "lease/daemon/daemon_process.h"

namespace hypermile {
namespace {

class StateFolderTest : public ::testing::Test {
 protected:
  StateFolderTest() : mask_(::umask(022)) {
    std::string name = (std::filesystem::temp_directory_path() / "hypermile-state-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~StateFolderTest() override {
    ::umask(mask_);
    std::filesystem::remove_all(folder_);
  }
  static unsigned mode(const std::string& path) {
    struct stat facts = {};
    return ::stat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777U : 0;
  }
  mode_t mask_;
  std::string folder_;
};

TEST_F(StateFolderTest, NoFileMaskClosesItsParentsOrOpensIt) {
  for (const mode_t mask : {077U, 000U, 022U, 0777U}) {
    ::umask(mask);
    const std::string parent = folder_ + "/" + std::to_string(mask);

    ASSERT_TRUE(prepare_state_folder(parent + "/state").ok());

    EXPECT_EQ(mode(parent), 0755U) << mask;
    EXPECT_EQ(mode(parent + "/state"), 0700U) << mask;
  }
}

TEST_F(StateFolderTest, AFolderThatIsOpenToOthersIsClosed) {
  const std::string state = folder_ + "/state";
  ASSERT_EQ(::mkdir(state.c_str(), 0700), 0);
  ASSERT_EQ(::chmod(state.c_str(), 0777), 0);

  EXPECT_TRUE(prepare_state_folder(state).ok());

  EXPECT_EQ(mode(state), 0700U);
}

// 'hypermiled --state /tmp' once closed /tmp to everybody.
TEST_F(StateFolderTest, AFolderThatHoldsMoreThanJournalsKeepsItsMode) {
  const std::string shared = folder_ + "/shared";
  ASSERT_EQ(::mkdir(shared.c_str(), 0700), 0);
  ASSERT_EQ(::mkdir((shared + "/somebody's").c_str(), 0700), 0);
  ASSERT_EQ(::chmod(shared.c_str(), 01777), 0);

  const auto refused = prepare_state_folder(shared);

  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUsage);
  EXPECT_EQ(mode(shared), 01777U);
  ASSERT_EQ(::chmod(shared.c_str(), 0755), 0);
  EXPECT_TRUE(prepare_state_folder(shared).ok()) << "nobody else can write there";
  EXPECT_EQ(mode(shared), 0755U);
}

TEST_F(StateFolderTest, ALevelThatOthersCanWriteIsRefused) {
  ASSERT_EQ(::mkdir((folder_ + "/a").c_str(), 0700), 0);
  ASSERT_EQ(::chmod((folder_ + "/a").c_str(), 0777), 0);

  const auto refused = prepare_state_folder(folder_ + "/a/b/state");

  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kPermission);
  ASSERT_EQ(::chmod((folder_ + "/a").c_str(), 01777), 0);
  EXPECT_TRUE(prepare_state_folder(folder_ + "/a/b/state").ok()) << "sticky, as /tmp";
}

TEST_F(StateFolderTest, ALinkOrAFolderOfAnotherUserIsRefused) {
  ASSERT_EQ(::mkdir((folder_ + "/real").c_str(), 0700), 0);
  ASSERT_EQ(::symlink("real", (folder_ + "/link").c_str()), 0);
  EXPECT_FALSE(prepare_state_folder(folder_ + "/link").ok());
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(::chown((folder_ + "/real").c_str(), 60001, 60001), 0);
  EXPECT_FALSE(prepare_state_folder(folder_ + "/real").ok());
  EXPECT_FALSE(prepare_state_folder(folder_ + "/real/state").ok());
}

TEST_F(StateFolderTest, EverybodyMayEnterTheSocketsFolder) {
  ::umask(077);

  ASSERT_TRUE(prepare_socket_folder(folder_ + "/shared/hypermiled.sock").ok());

  EXPECT_EQ(mode(folder_ + "/shared"), 0755U);
}

}  // namespace
}  // namespace hypermile
