// SPDX-License-Identifier: Apache-2.0
#include "inject/stale_rings.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "inject/ring_folder.h"
#include "inject/ring_writer.h"

namespace hypermile {
namespace {

namespace fs = std::filesystem;

class StaleRings : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(parent_.data()), nullptr);
    ::setenv("XDG_RUNTIME_DIR", parent_.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("XDG_RUNTIME_DIR");
    ::unsetenv(kRingDirVariable);
    fs::remove_all(parent_);
  }

  // Runs `act` in a process that is killed as soon as `act` returns.
  template <class Act>
  static void in_a_killed_process(Act act) {
    const pid_t child = ::fork();
    if (child == 0) {
      act();
      ::raise(SIGKILL);
    }
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  }

  // Makes a folder that lives as long as its process.
  static void leave_folder() { (void)new RingFolder(RingFolder::make().value()); }

  std::string only_entry() const {
    const auto first = fs::directory_iterator(parent_);
    return first == fs::directory_iterator() ? "" : first->path().string();
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(parent_), fs::directory_iterator()));
  }

  std::string parent_ = "/tmp/hypermile-stale-rings-XXXXXX";
};

TEST_F(StaleRings, RemovesTheFolderOfAKilledRunAndItsJob) {
  in_a_killed_process([this] {
    leave_folder();
    ::setenv(kRingDirVariable, only_entry().c_str(), 1);
    (new RingWriter)->open(RingSource::kTicks);
  });
  ASSERT_FALSE(fs::is_empty(only_entry())) << "a ring";

  EXPECT_EQ(remove_stale_rings(parent_), 1U);

  EXPECT_EQ(entries(), 0U);
}

TEST_F(StaleRings, LeavesTheFolderOfALivingRun) {
  const auto living = RingFolder::make();
  ASSERT_TRUE(living.ok());

  EXPECT_EQ(remove_stale_rings(parent_), 0U);

  EXPECT_TRUE(fs::exists(living->path()));
}

TEST_F(StaleRings, LeavesTheFolderOfAJobThatOutlivesItsRun) {
  in_a_killed_process(leave_folder);
  const std::string folder = only_entry();
  ASSERT_FALSE(folder.empty());
  auto writer = std::make_unique<RingWriter>();
  ::setenv(kRingDirVariable, folder.c_str(), 1);
  ASSERT_TRUE(writer->open(RingSource::kTicks));

  EXPECT_EQ(remove_stale_rings(parent_), 0U);
  EXPECT_TRUE(RingFolder::open(folder).ok()) << "it can still be attached to";
}

TEST_F(StaleRings, LeavesTheFolderThatSomebodyHasAttachedTo) {
  in_a_killed_process(leave_folder);
  const std::string folder = only_entry();
  {
    const auto attached = RingFolder::open(folder);
    ASSERT_TRUE(attached.ok());

    EXPECT_EQ(remove_stale_rings(parent_), 0U);
  }

  EXPECT_EQ(remove_stale_rings(parent_), 1U);
}

TEST_F(StaleRings, LeavesOtherFoldersAlone) {
  fs::create_directory(parent_ + "/hypermile-rings-a");
  fs::create_directory(parent_ + "/hypermile-rings-abc_ef");
  fs::create_directory(parent_ + "/somebody-elses");
  fs::create_directory(parent_ + "/hypermile-rings-open00");
  fs::permissions(parent_ + "/hypermile-rings-open00", fs::perms::all);
  std::ofstream(parent_ + "/hypermile-rings-file00") << "not a folder";
  const std::size_t before = entries();

  EXPECT_EQ(remove_stale_rings(parent_), 0U);

  EXPECT_EQ(entries(), before);
}

TEST_F(StaleRings, FollowsNoLink) {
  const std::string target = parent_ + "/target";
  fs::create_directory(target);
  fs::permissions(target, fs::perms::owner_all);
  std::ofstream(target + "/dear") << "not ours";
  fs::create_directory_symlink(target, parent_ + "/hypermile-rings-link00");

  EXPECT_EQ(remove_stale_rings(parent_), 0U);

  EXPECT_TRUE(fs::exists(target + "/dear"));
  EXPECT_TRUE(fs::is_symlink(parent_ + "/hypermile-rings-link00"));
}

TEST_F(StaleRings, LeavesAnotherUsersFolder) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a folder of another user";
  in_a_killed_process([] { (void)new RingFolder(RingFolder::make_for(65534, 65534).value()); });
  ASSERT_EQ(entries(), 1U);

  EXPECT_EQ(remove_stale_rings(parent_), 0U);

  EXPECT_EQ(entries(), 1U);
}

}  // namespace
}  // namespace hypermile
