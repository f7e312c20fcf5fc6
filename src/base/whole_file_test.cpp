// SPDX-License-Identifier: Apache-2.0
#include "base/whole_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "testing/child_process.h"
#include "testing/scratch_folder.h"

namespace hypermile {
namespace {

namespace fs = std::filesystem;

class WholeFile : public ::testing::Test {
 protected:
  std::string path(const char* name) const { return (folder_ / name).string(); }
  static std::string read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const ScratchFolder scratch_;
  const fs::path folder_ = scratch_.path();
};

TEST_F(WholeFile, IsReadToItsLastByteAndAFolderIsNot) {
  const std::string bytes = std::string(100'000, 'x') + '\0' + "end";
  std::ofstream(path("bytes"), std::ios::binary) << bytes;
  EXPECT_EQ(read_whole_file(path("bytes")), bytes);
  EXPECT_EQ(read_whole_file(folder_.string()), std::nullopt);
  EXPECT_EQ(read_whole_file(path("absent")), std::nullopt);
}

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

TEST_F(WholeFile, KeepsModeAndOwnerOfTheFile) {
  std::ofstream(path("page")) << "old";
  ASSERT_EQ(::chmod(path("page").c_str(), 0640), 0);
  const uid_t owner = ::geteuid() == 0 ? 60001 : ::geteuid();
  ASSERT_EQ(::chown(path("page").c_str(), owner, static_cast<gid_t>(-1)), 0);
  ASSERT_TRUE(write_whole_file(path("page"), "new").ok());
  struct stat facts = {};
  ASSERT_EQ(::stat(path("page").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0640U);
  EXPECT_EQ(facts.st_uid, owner);
}

// The draft's name can be guessed, and root may write in a folder of everybody.
TEST_F(WholeFile, WritesThroughNoLinkThatSomebodyPutInTheDraftsPlace) {
  std::ofstream(path("victim")) << "precious";
  for (const std::string& draft :
       {path("page") + ".part", fmt::format("{}.{}.part", path("page"), ::getpid())}) {
    fs::create_symlink("victim", draft);
  }
  EXPECT_FALSE(write_whole_file(path("page"), "new").ok());
  EXPECT_EQ(read(path("victim")), "precious");
}

TEST_F(WholeFile, WritesAFileWhoseFolderCannotBeWritten) {
  std::ofstream(path("page")) << "old and longer";
  fs::permissions(path("page"), fs::perms::all);
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::group_exec |
                               fs::perms::others_exec);
  const int status = in_child([&] {
    if (::geteuid() == 0 && ::setuid(60001) != 0) return 2;
    return write_whole_file(path("page"), "new").ok() ? 0 : 1;
  });
  fs::permissions(folder_, fs::perms::owner_all);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(read(path("page")), "new");
}

// A limit of the file size stands for a disk that is full.
TEST_F(WholeFile, LeavesTheEarlierFileWhereTheDiskIsFull) {
  std::ofstream(path("page")) << "old";
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit small = {1000, 1000};
    if (::setrlimit(RLIMIT_FSIZE, &small) != 0) return 2;
    return write_whole_file(path("page"), std::string(5000, 'x')).ok() ? 0 : 1;
  });
  EXPECT_EQ(status, 1);
  EXPECT_EQ(read(path("page")), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
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
