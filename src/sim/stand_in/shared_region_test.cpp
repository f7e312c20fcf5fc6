// SPDX-License-Identifier: Apache-2.0
#include "sim/stand_in/shared_region.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "testing/child_process.h"

namespace hypermile {
namespace {

namespace fs = std::filesystem;

class SharedRegionTest : public ::testing::Test {
 protected:
  SharedRegionTest() {
    std::string name = (fs::temp_directory_path() / "hypermile-region-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    spec_.path = folder_ / "state";
    spec_.payload_size = 4 * sizeof(int);
    spec_.layout = 7;
    spec_.purpose = "one";
    spec_.accepts = [](const std::string& purpose) { return purpose == "one"; };
    spec_.fill = [](void* memory) -> Result<void> {
      *static_cast<int*>(memory) = 100;
      return {};
    };
  }
  ~SharedRegionTest() override { fs::remove_all(folder_); }

  std::unique_ptr<SharedRegion> open() {
    auto region = SharedRegion::open(spec_);
    EXPECT_TRUE(region.ok()) << region.error().line();
    return region ? std::move(region).value() : nullptr;
  }
  static int& number(SharedRegion& region) { return *static_cast<int*>(region.payload()); }

  fs::path folder_;
  RegionSpec spec_;
};

TEST_F(SharedRegionTest, TwoOpenersShareOneMemory) {
  const auto first = open();
  const auto second = open();

  number(*first) = 5;

  EXPECT_EQ(number(*second), 5);
  EXPECT_EQ(second->purpose(), "one");
}

TEST_F(SharedRegionTest, WhatWasWrittenOutlivesEveryProcess) {
  number(*open()) = 17;

  EXPECT_EQ(number(*open()), 17);
}

TEST_F(SharedRegionTest, EverybodyMayOpenIt) {
  open();

  struct stat status {};
  ASSERT_EQ(::stat(spec_.path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0666U);
}

TEST_F(SharedRegionTest, AFileThatDoesNotFitIsReplaced) {
  number(*open()) = 17;
  for (const char* content : {"", "nonsense"}) {
    std::ofstream(spec_.path) << content;
    EXPECT_EQ(number(*open()), 100) << content;
  }
  spec_.layout = 8;
  EXPECT_EQ(number(*open()), 100) << "another version";
  number(*open()) = 17;
  spec_.payload_size *= 2;
  EXPECT_EQ(number(*open()), 100) << "another size";
}

TEST_F(SharedRegionTest, AProcessWithTheOldFileKeepsItsOwnData) {
  const auto old = open();
  spec_.purpose = "two";
  spec_.accepts = [](const std::string& purpose) { return purpose == "two"; };

  const auto fresh = open();
  number(*fresh) = 1;

  EXPECT_EQ(number(*old), 100);
  EXPECT_TRUE(old->lock().ok());
}

TEST_F(SharedRegionTest, AHolderThatIsKilledLeavesTheLockUsable) {
  const auto region = open();

  const int status = in_child([&] {
    const auto lock = region->lock();
    number(*region) = 3;
    return ::raise(SIGKILL);
  });
  const auto lock = region->lock();

  EXPECT_EQ(status, 128 + SIGKILL);
  ASSERT_TRUE(lock.ok()) << lock.error().line();
  EXPECT_EQ(number(*region), 3);
}

TEST_F(SharedRegionTest, AFailingFillLeavesNothingBehind) {
  spec_.fill = [](void*) -> Result<void> { return Error{ErrorCode::kUsage, "no such GPU"}; };

  const auto region = SharedRegion::open(spec_);

  ASSERT_FALSE(region.ok());
  EXPECT_EQ(region.error().message, "no such GPU");
  EXPECT_FALSE(fs::exists(spec_.path));
}

TEST_F(SharedRegionTest, ALinkIsNeitherFollowedNorReplaced) {
  const fs::path victim = folder_ / "victim";
  std::ofstream(victim) << "precious";
  fs::create_symlink(victim, spec_.path);

  EXPECT_FALSE(SharedRegion::open(spec_).ok());

  std::string content;
  std::ifstream(victim) >> content;
  EXPECT_EQ(content, "precious");
  EXPECT_TRUE(fs::is_symlink(spec_.path));
}

TEST_F(SharedRegionTest, APipeIsNotReplaced) {
  ASSERT_EQ(::mkfifo(spec_.path.c_str(), 0600), 0);

  EXPECT_FALSE(SharedRegion::open(spec_).ok());

  EXPECT_TRUE(fs::is_fifo(spec_.path));
}

TEST_F(SharedRegionTest, SaysWhichFileCannotBeMade) {
  spec_.path = (folder_ / "no" / "such" / "folder").string();

  const auto region = SharedRegion::open(spec_);

  ASSERT_FALSE(region.ok());
  EXPECT_NE(region.error().line().find(spec_.path), std::string::npos) << region.error().line();
}

}  // namespace
}  // namespace hypermile
