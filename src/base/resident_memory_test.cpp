// SPDX-License-Identifier: Apache-2.0
#include "base/resident_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace hypermile {
namespace {

constexpr std::size_t kSize = std::size_t{1} << 20;

// A file of 1 MiB of 'a', mapped privately, whose name is already unlinked.
class MappedFile {
 public:
  explicit MappedFile(int rights) {
    char path[] = "/tmp/hypermile-resident-XXXXXX";
    const int file = ::mkstemp(path);
    ::unlink(path);
    const std::string content(kSize, 'a');
    EXPECT_EQ(::write(file, content.data(), kSize), static_cast<ssize_t>(kSize));
    at = static_cast<char*>(::mmap(nullptr, kSize, rights, MAP_PRIVATE, file, 0));
    ::close(file);
  }
  ~MappedFile() { ::munmap(at, kSize); }

  bool holds_everywhere(char wanted) const {
    return std::string_view(at, kSize).find_first_not_of(wanted) == std::string_view::npos;
  }
  // How much of the mapping is in memory, in KiB, as /proc/self/smaps says.
  long resident() const {
    std::ifstream smaps("/proc/self/smaps");
    bool mine = false;
    for (std::string line; std::getline(smaps, line);) {
      if (!(line[0] >= 'A' && line[0] <= 'Z')) {
        mine = std::stoull(line, nullptr, 16) == reinterpret_cast<std::uintptr_t>(at);
      } else if (mine && line.starts_with("Rss:")) {
        return std::stol(line.substr(4));
      }
    }
    return -1;
  }

  char* at = nullptr;
};

TEST(ResidentMemory, UnchangedFilePagesAreReleasedAndReadAgainOnDemand) {
  const MappedFile file(PROT_READ);
  const bool as_written = file.holds_everywhere('a');
  const long before = file.resident();

  give_back_unused_memory();

  EXPECT_TRUE(as_written);
  EXPECT_EQ(before, 1024);
  EXPECT_EQ(file.resident(), 0);
  EXPECT_TRUE(file.holds_everywhere('a'));
}

TEST(ResidentMemory, PagesChangedBeforeTheyBecameReadOnlyStay) {
  const MappedFile relocated(PROT_READ | PROT_WRITE);
  relocated.at[kSize / 2] = 'b';
  ASSERT_EQ(::mprotect(relocated.at, kSize, PROT_READ), 0);

  give_back_unused_memory();

  EXPECT_EQ(relocated.at[kSize / 2], 'b');
}

TEST(ResidentMemory, WritablePagesStay) {
  const MappedFile data(PROT_READ | PROT_WRITE);
  data.at[0] = 'b';

  give_back_unused_memory();

  EXPECT_EQ(data.at[0], 'b');
}

}  // namespace
}  // namespace hypermile
