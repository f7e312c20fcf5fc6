// SPDX-License-Identifier: Apache-2.0
#include "base/whole_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace hypermile {
namespace {

namespace fs = std::filesystem;

class WholeFile : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / (std::string("whole_file_") + test->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }
  static std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path folder_;
};

TEST_F(WholeFile, ReplacesAFileAndLeavesNoDraft) {
  ASSERT_TRUE(write_whole_file(path("page"), "one").ok());
  ASSERT_TRUE(write_whole_file(path("page"), "two").ok());
  EXPECT_EQ(read(path("page")), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(WholeFile, ReplacesTheFileBehindALinkAndKeepsTheLink) {
  std::ofstream(path("kept")) << "old";
  fs::create_symlink("kept", path("link"));
  ASSERT_TRUE(write_whole_file(path("link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read(path("kept")), "new");
}

TEST_F(WholeFile, WritesInPlaceWhereThereIsNoRoomForADraft) {
  const std::string longest(250, 'n');  // 255 bytes are the most, and a draft has 5 more
  ASSERT_TRUE(write_whole_file(path((longest + ".html").c_str()), "text").ok());
  EXPECT_EQ(read(path((longest + ".html").c_str())), "text");
}

// As root, a rename would put a plain file in the place of the device.
TEST_F(WholeFile, WritesIntoAPipeAndLeavesItAPipe) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read(path("pipe")); });
  const Result<void> written = write_whole_file(path("pipe"), "text");
  reader.join();
  EXPECT_TRUE(written.ok());
  EXPECT_EQ(got, "text");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(WholeFile, SaysWhyAPathCannotBeWritten) {
  const Result<void> folder = write_whole_file(folder_.string(), "text");
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().code, ErrorCode::kIo);
  const Result<void> absent = write_whole_file(path("absent/page"), "text");
  ASSERT_FALSE(absent.ok());
  EXPECT_NE(absent.error().message.find("No such file"), std::string::npos)
      << absent.error().message;
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace hypermile
