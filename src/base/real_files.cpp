// SPDX-License-Identifier: Apache-2.0
//
// Files on the file system. Every file is opened close-on-exec, and a symbolic link as the last
// part of a path is not followed. The folders belong to the administrator and are trusted.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/descriptor.h"
#include "base/files.h"

namespace hypermile {
namespace {

constexpr mode_t kOwnerOnly = 0600;
constexpr std::size_t kMostHolderBytes = 512;

Error failed(std::string_view what, const std::string& path) {
  const int code = errno;
  return Error{code == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
               fmt::format("cannot {} {}: {}", what, path, std::strerror(code))};
}

Result<Descriptor> open_own(const std::string& path, int flags) {
  Descriptor fd(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, kOwnerOnly));
  if (fd.get() < 0) return failed("open", path);
  struct stat facts = {};
  if (::fstat(fd.get(), &facts) != 0) return failed("look at", path);
  if (!S_ISREG(facts.st_mode) || facts.st_uid != ::geteuid()) {
    return Error{ErrorCode::kIo, path + " is not a plain file of this user",
                 "find out who put it there, then move it away"};
  }
  return fd;
}

// A rename or an unlink by root would take a device such as /dev/null away from the whole machine.
Result<void> must_be_replaceable(const std::string& path) {
  struct stat facts = {};
  if (::lstat(path.c_str(), &facts) != 0) return {};
  if (S_ISREG(facts.st_mode) || S_ISLNK(facts.st_mode)) return {};
  return Error{ErrorCode::kIo, path + " is not a plain file", "give the path of a file"};
}

Result<void> write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<std::string> read_all(int fd, std::size_t most, const std::string& path) {
  std::string bytes;
  char part[4096];
  for (;;) {
    const ssize_t size = ::read(fd, part, sizeof part);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return failed("read", path);
    if (size == 0) return bytes;
    bytes.append(part, static_cast<std::size_t>(size));
    if (bytes.size() > most) {
      return Error{ErrorCode::kParse, fmt::format("{} is larger than {} bytes", path, most)};
    }
  }
}

class RealAppendFile final : public AppendFile {
 public:
  RealAppendFile(Descriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Result<void> append(std::string_view bytes) override {
    return write_all(fd_.get(), bytes, path_);
  }
  Result<void> sync() override {
    if (::fdatasync(fd_.get()) != 0) return failed("sync", path_);
    return {};
  }

 private:
  Descriptor fd_;
  std::string path_;
};

class RealFileLock final : public FileLock {
 public:
  explicit RealFileLock(Descriptor fd) : fd_(std::move(fd)) {}

 private:
  Descriptor fd_;
};

class RealFiles final : public Files {
 public:
  Result<std::string> read(const std::string& path, std::size_t most) override {
    ASSIGN_OR_RETURN(const Descriptor fd, open_own(path, O_RDONLY));
    return read_all(fd.get(), most, path);
  }

  Result<std::unique_ptr<AppendFile>> create(const std::string& path) override {
    RETURN_IF_ERROR(must_be_replaceable(path));
    // Makes a new file instead of emptying the old one, because another process may have that one
    // open.
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failed("replace", path);
    return append_file(path, O_CREAT | O_EXCL);
  }

  Result<std::unique_ptr<AppendFile>> open_append(const std::string& path) override {
    return append_file(path, 0);
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    RETURN_IF_ERROR(must_be_replaceable(to));
    if (::rename(from.c_str(), to.c_str()) != 0) return failed("rename", from);
    return {};
  }

  Result<void> link(const std::string& from, const std::string& to) override {
    if (::link(from.c_str(), to.c_str()) == 0) return {};
    if (errno == EEXIST) return Error{ErrorCode::kBusy, to + " already exists"};
    return failed("keep", from);
  }

  Result<void> sync_folder(const std::string& folder) override {
    const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (fd.get() < 0) return failed("open", folder);
    if (::fsync(fd.get()) != 0) return failed("sync", folder);
    return {};
  }

  Result<std::unique_ptr<FileLock>> lock(const std::string& path,
                                         std::string_view holder) override {
    Result<Descriptor> opened = open_own(path, O_RDWR | O_CREAT);
    // A lock can be held on a file that cannot be written, as on a disk that has become read-only.
    if (!opened) opened = open_own(path, O_RDONLY);
    if (!opened) return opened.error();
    Descriptor fd = *std::move(opened);
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return failed("lock", path);
      const Result<std::string> who = read_all(fd.get(), kMostHolderBytes, path);
      return Error{ErrorCode::kBusy,
                   who && !who->empty() ? *who : std::string("another process of hypermile")};
    }
    // The text is only for people: if it cannot be written, the lock still holds.
    if (::ftruncate(fd.get(), 0) == 0) {
      (void)write_all(fd.get(), holder.substr(0, kMostHolderBytes), path);
    }
    return std::unique_ptr<FileLock>(std::make_unique<RealFileLock>(std::move(fd)));
  }

 private:
  static Result<std::unique_ptr<AppendFile>> append_file(const std::string& path, int flags) {
    ASSIGN_OR_RETURN(Descriptor fd, open_own(path, O_WRONLY | O_APPEND | flags));
    return std::unique_ptr<AppendFile>(std::make_unique<RealAppendFile>(std::move(fd), path));
  }
};

}  // namespace

std::unique_ptr<Files> make_real_files() {
  return std::make_unique<RealFiles>();
}

}  // namespace hypermile
