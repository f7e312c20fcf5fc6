// SPDX-License-Identifier: Apache-2.0
#include "base/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/descriptor.h"

namespace hypermile {
namespace {

Error cannot_write(const std::string& path, int code) {
  return Error{ErrorCode::kIo, fmt::format("{}: cannot be written: {}", path, std::strerror(code)),
               "check the path, its permissions and the space on its disk"};
}

// 0, or the errno of what failed.
int fill(const Descriptor& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  // A pipe or a terminal has nothing to sync.
  return ::fdatasync(file.get()) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
}

Result<void> write_in_place(const std::string& path, std::string_view text) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY;
  const Descriptor file(::open(path.c_str(), kFlags, 0666));
  const int code = file ? fill(file, text) : errno;
  if (code != 0) return cannot_write(path, code);
  return {};
}

// The successor gets the owner, group and mode of the earlier file, as far as we may give them.
void take_after(const struct stat& earlier, const Descriptor& successor) {
  constexpr auto kSameOwner = static_cast<uid_t>(-1);
  [[maybe_unused]] const bool given =
      ::fchown(successor.get(), earlier.st_uid, earlier.st_gid) == 0 ||
      ::fchown(successor.get(), kSameOwner, earlier.st_gid) == 0;
  ::fchmod(successor.get(), earlier.st_mode & 0777U);
}

}  // namespace

std::optional<std::string> read_whole_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer, sizeof(buffer));
    if (got == 0) return text;
    if (got < 0 && errno != EINTR) return std::nullopt;
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
  }
}

Result<void> write_whole_file(const std::string& path, std::string_view text) {
  struct stat there = {};
  if (::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    return write_in_place(path, text);
  }
  std::error_code problem;
  std::filesystem::path target = std::filesystem::weakly_canonical(path, problem);
  if (problem) target = path;
  // The folder stays the same one from here on. Otherwise its owner could exchange it, and have us
  // give them a file of another folder.
  const std::string above = target.parent_path().empty() ? "." : target.parent_path().string();
  const Descriptor folder(::open(above.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return cannot_write(path, errno);
  const std::string name = target.filename().string();
  const std::string draft = fmt::format("{}.{}.part", name, ::getpid());
  const bool exists = ::fstatat(folder.get(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0;
  int code = 0;
  {
    // Whatever somebody else has put in the draft's place is neither followed nor written to.
    constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    const Descriptor file(::openat(folder.get(), draft.c_str(), kNew, 0666));
    // A folder that nobody may write can hold a file that we may, and a name that a folder takes
    // can be too long for a draft.
    if (!file && (exists || errno == ENAMETOOLONG)) return write_in_place(path, text);
    if (!file) return cannot_write(path, errno);
    if (exists) take_after(there, file);
    code = fill(file, text);
  }
  const auto replaced = [&] {
    return ::renameat(folder.get(), draft.c_str(), folder.get(), name.c_str()) == 0;
  };
  if (code == 0 && replaced()) return {};
  if (code == 0) code = errno;
  ::unlinkat(folder.get(), draft.c_str(), 0);
  // A file that was mounted alone, as into a container, cannot be replaced.
  if (code == EBUSY) return write_in_place(path, text);
  return cannot_write(path, code);
}

}  // namespace hypermile
