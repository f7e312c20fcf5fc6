// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"

namespace hypermile {
namespace {

class RealFilesTest : public ::testing::Test {
 protected:
  RealFilesTest() {
    std::string name = (std::filesystem::temp_directory_path() / "hypermile-files-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~RealFilesTest() override { std::filesystem::remove_all(folder_); }
  std::string path(const char* name) const { return folder_ + "/" + name; }
  void write(const char* name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name)) << text;
  }

  std::string folder_;
  std::unique_ptr<Files> files_ = make_real_files();
};

TEST_F(RealFilesTest, AppendsSyncsRenamesAndReads) {
  auto file = files_->create(path("a.new"));
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->append("one"));
  ASSERT_TRUE((*file)->sync());
  ASSERT_TRUE(files_->rename(path("a.new"), path("a")));
  ASSERT_TRUE(files_->sync_folder(folder_));
  ASSERT_TRUE((*file)->append(" two")) << "the open file follows its new name";

  auto again = files_->open_append(path("a"));
  ASSERT_TRUE(again.ok());
  ASSERT_TRUE((*again)->append(" three"));

  EXPECT_EQ(files_->read(path("a"), 100).value(), "one two three");
  EXPECT_EQ(files_->read(path("a"), 4).error().code, ErrorCode::kParse);
  EXPECT_EQ(files_->read(path("b"), 4).error().code, ErrorCode::kNotFound);
}

TEST_F(RealFilesTest, MakesFilesThatOnlyTheirOwnerCanRead) {
  ASSERT_TRUE(files_->create(path("a")).ok());

  struct stat facts = {};
  ASSERT_EQ(::stat(path("a").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
}

TEST_F(RealFilesTest, NeverReplacesADeviceOrAPipe) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  write("a", "one");
  EXPECT_EQ(files_->create(path("pipe")).error().code, ErrorCode::kIo);
  EXPECT_EQ(files_->rename(path("a"), path("pipe")).error().code, ErrorCode::kIo);
  EXPECT_TRUE(std::filesystem::is_fifo(path("pipe")));
}

TEST_F(RealFilesTest, RefusesLinksAndSpecialFiles) {
  write("target", "precious");
  ASSERT_EQ(::symlink(path("target").c_str(), path("link").c_str()), 0);
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);

  EXPECT_FALSE(files_->read(path("link"), 100).ok());
  EXPECT_FALSE(files_->open_append(path("link")).ok());
  EXPECT_FALSE(files_->read(path("pipe"), 100).ok())
      << "a FIFO must be refused without waiting for a writer";
  ASSERT_TRUE(files_->create(path("link")).ok());
  EXPECT_EQ(files_->read(path("target"), 100).value(), "precious");
}

TEST_F(RealFilesTest, GivesAFileASecondNameOnce) {
  write("a", "text");

  EXPECT_TRUE(files_->link(path("a"), path("b")));
  EXPECT_EQ(files_->link(path("a"), path("b")).error().code, ErrorCode::kBusy);
  EXPECT_EQ(files_->link(path("none"), path("c")).error().code, ErrorCode::kNotFound);
}

TEST_F(RealFilesTest, ALockNamesItsHolderAndEndsWithIt) {
  auto held = files_->lock(path("lock"), "hypermiled (pid 12)");
  ASSERT_TRUE(held.ok());

  const auto second = files_->lock(path("lock"), "guardian (pid 13)");

  EXPECT_EQ(second.error().code, ErrorCode::kBusy);
  EXPECT_EQ(second.error().message, "hypermiled (pid 12)");
  held->reset();
  EXPECT_TRUE(files_->lock(path("lock"), "guardian (pid 13)").ok());
}

TEST_F(RealFilesTest, SaysWhatFailed) {
  const auto missing = files_->create(path("no/such/folder"));

  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("no/such/folder: No such file"), std::string::npos);
}

}  // namespace
}  // namespace hypermile
