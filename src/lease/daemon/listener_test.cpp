// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/listener.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

namespace hypermile {
namespace {

namespace fs = std::filesystem;

class ListenerTest : public ::testing::Test {
 protected:
  ListenerTest() {
    std::string name = (fs::temp_directory_path() / "hypermile-listener-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~ListenerTest() override { fs::remove_all(folder_); }

  Result<std::unique_ptr<Listener>> open() { return Listener::open(socket(), folder_ / "lock"); }
  std::string socket() const { return folder_ / "socket"; }

  fs::path folder_;
};

TEST_F(ListenerTest, ReplacesTheSocketOfADeadDaemonAndRemovesItsOwn) {
  fs::create_directory(folder_ / "other");
  {
    const auto dead = Listener::open(folder_ / "other/socket", folder_ / "other/lock");
    ASSERT_TRUE(dead.ok());
    fs::rename(folder_ / "other/socket", socket());
  }
  ASSERT_TRUE(fs::is_socket(socket()));

  EXPECT_TRUE(open().ok());

  EXPECT_FALSE(fs::exists(socket()));
}

// As root, removing it would take a device such as /dev/null away from the whole machine.
TEST_F(ListenerTest, LeavesAloneWhatIsNoSocket) {
  ASSERT_EQ(::mkfifo(socket().c_str(), 0600), 0);

  const auto refused = open();

  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUsage);
  EXPECT_TRUE(fs::is_fifo(socket()));
}

}  // namespace
}  // namespace hypermile
