// SPDX-License-Identifier: Apache-2.0
//
// The few file operations that the journal is made of, so that tests can fail, tear and forget each
// of them. Implementations: real_files (the file system), and faulty_files in tests. Every call may
// fail with kIo; a failing call may have done a part of its work.
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
  // Returns when what was appended would survive the loss of power.
  virtual Result<void> sync() = 0;
};

// Held until destroyed, or until the process is gone.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

class Files {
 public:
  virtual ~Files() = default;

  // kNotFound when there is none; kParse when it is larger than `most` bytes.
  virtual Result<std::string> read(const std::string& path, std::size_t most) = 0;
  // An empty file for its owner alone, in place of any that is there.
  virtual Result<std::unique_ptr<AppendFile>> create(const std::string& path) = 0;
  virtual Result<std::unique_ptr<AppendFile>> open_append(const std::string& path) = 0;
  // Replaces `to` at one instant.
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  // A second name for a file; kBusy when `to` is there already.
  virtual Result<void> link(const std::string& from, const std::string& to) = 0;
  // Returns when the names in the folder would survive the loss of power.
  virtual Result<void> sync_folder(const std::string& folder) = 0;
  // kBusy with the holder's own words when another process holds it.
  virtual Result<std::unique_ptr<FileLock>> lock(const std::string& path,
                                                 std::string_view holder) = 0;
};

// Refuses symbolic links, and files that are not plain or not this user's.
std::unique_ptr<Files> make_real_files();

}  // namespace hypermile
