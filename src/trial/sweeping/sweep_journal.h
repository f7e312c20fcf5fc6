// SPDX-License-Identifier: Apache-2.0
//
// The measurements of a sweep on disk: F.csv.journal, next to the F.csv that is made from it. The
// first line of JSON describes the sweep, and each further line is one window, which is appended
// and synced before the next window begins. So a crash loses no finished window: an incomplete last
// line is cut off, and the lines before it count. A journal that is broken in the middle, or
// belongs to another sweep, is an error that names the file and leaves it unchanged. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "trial/sweeping/sweep_order.h"

namespace hypermile {

class SweepJournal {
 public:
  // `files` must outlive it. Reads an existing journal and cuts off an incomplete last line; writes
  // nothing where there is no journal yet.
  static Result<SweepJournal> open(Files& files, const std::string& path);

  const std::string& path() const { return path_; }
  const std::optional<SweepHeader>& header() const { return header_; }
  const std::vector<SweepEntry>& entries() const { return entries_; }

  // Returns kUsage where the journal belongs to another sweep.
  Result<void> check(const SweepHeader& header) const;
  // Call once, or again with an equal header. Fails as check() does.
  Result<void> begin(const SweepHeader& header);
  // Call after begin(). After kIo, a crash may lose the entry.
  Result<void> add(const SweepEntry& entry);

 private:
  SweepJournal(Files& files, std::string path) : files_(&files), path_(std::move(path)) {}
  Result<void> read(const std::string& text);
  Result<void> rewrite();

  Files* files_;
  std::string path_;
  std::optional<SweepHeader> header_;
  std::vector<SweepEntry> entries_;
  std::unique_ptr<AppendFile> file_;  // open after begin()
};

}  // namespace hypermile
