// SPDX-License-Identifier: Apache-2.0
//
// The few file operations that the lease journal needs, behind an interface so that tests can make
// each of them fail, write only a part, or lose data. real_files.cpp works on the file system;
// testing/faulty_files.h is the failing one. Every call may fail with kIo, and a failed call may
// have done part of its work.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hypermile {

class AppendFile {
 public:
  virtual ~AppendFile() = default;
  virtual Result<void> append(std::string_view bytes) = 0;
  // Returns once all appended bytes would survive a loss of power.
  virtual Result<void> sync() = 0;
};

// The lock is held until this object is destroyed or the process ends.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

class Files {
 public:
  virtual ~Files() = default;

  // kNotFound when the file does not exist; kParse when it is larger than `most` bytes.
  virtual Result<std::string> read(const std::string& path, std::size_t most) = 0;
  // Makes an empty file that only its owner can read, and replaces any file of that name.
  virtual Result<std::unique_ptr<AppendFile>> create(const std::string& path) = 0;
  virtual Result<std::unique_ptr<AppendFile>> open_append(const std::string& path) = 0;
  // Replaces `to` atomically.
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  // Gives a file a second name; kBusy when `to` exists already.
  virtual Result<void> link(const std::string& from, const std::string& to) = 0;
  // Returns once the folder's names would survive a loss of power.
  virtual Result<void> sync_folder(const std::string& folder) = 0;
  // Locks `path` and writes `holder` into it for people to read. When another process has the lock,
  // fails with kBusy and that process's `holder` text as the message.
  virtual Result<std::unique_ptr<FileLock>> lock(const std::string& path,
                                                 std::string_view holder) = 0;
};

// Refuses symbolic links, special files, and files that belong to another user.
std::unique_ptr<Files> make_real_files();

}  // namespace hypermile
