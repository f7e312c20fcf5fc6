// SPDX-License-Identifier: Apache-2.0
//
// A file system in memory that fails, writes only parts, and loses data on purpose, for tests of
// the journal. It knows what was synced, so a test can cut the power between any two operations.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/files.h"

namespace hypermile {

// Counts what a process does and ends the process at a chosen operation; nothing it does afterwards
// has an effect. The files and the GPU of one process share a Fate.
struct Fate {
  int operations = 0;
  std::optional<int> dies_at = {};
  // How many bytes of an append at that operation still reach the file.
  std::size_t torn_after = 0;
  std::size_t last_append = 0;  // length of the append in which the process died

  // True if the process is dead, from this operation on: the operation has no effect.
  bool operation_fails() { return dead() || operations++ == dies_at; }
  bool dead() const { return dies_at && operations > *dies_at; }
};

class FaultyFiles final : public Files {
 public:
  // The content of the disk. The next process gets a copy.
  struct Inode {
    std::string data;
    std::size_t synced = 0;
  };
  struct Disk {
    std::map<std::string, std::shared_ptr<Inode>> names;
    std::map<std::string, std::shared_ptr<Inode>> synced_names;
  };
  // Calls that fail without ending the process: call number `first` and the next `times` - 1.
  struct Failure {
    int first = 0;
    int times = 1;
    std::string why = "No space left on device";
    std::size_t torn_after = 0;  // bytes of an append that are written nevertheless
  };

  FaultyFiles(Disk disk, Fate& fate) : disk_(std::move(disk)), fate_(fate) {}

  Result<std::string> read(const std::string& path, std::size_t most) override;
  Result<std::unique_ptr<AppendFile>> create(const std::string& path) override;
  Result<std::unique_ptr<AppendFile>> open_append(const std::string& path) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> link(const std::string& from, const std::string& to) override;
  Result<void> sync_folder(const std::string& folder) override;
  Result<std::unique_ptr<FileLock>> lock(const std::string& path, std::string_view holder) override;

  void fail(Failure failure) { failure_ = std::move(failure); }
  int calls() const { return calls_; }
  bool fail_only_writes = false;  // as on a disk that has become read-only

  // What another process finds after this one was killed.
  Disk after_kill() const;
  // What is found after a power failure. `kept` unsynced bytes survive in each file. Names survive
  // as of the folder's last sync or, with `names_kept`, all of them.
  Disk after_power_loss(std::size_t kept, bool names_kept) const;

 private:
  friend class FaultyAppendFile;
  // Success, or why this call fails.
  Result<void> begin();

  Disk disk_;
  Fate& fate_;
  std::optional<Failure> failure_;
  int calls_ = 0;
  std::map<std::string, std::string> locks_;
};

}  // namespace hypermile
