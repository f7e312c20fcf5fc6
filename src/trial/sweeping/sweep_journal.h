// SPDX-License-Identifier: Apache-2.0
//
// What a sweep has measured, on disk: F.csv.journal beside the F.csv that is made from it. A line
// of JSON for what the sweep is of, then one for each Window, appended and synced before the next
// is begun. Whatever dies when, what was measured is there for the next start: half a line is cut
// off, everything before it counts. A journal that is broken in the middle, or of another sweep, is
// refused by name and left as it is.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "trial/sweeping/sweep_plan.h"

namespace hypermile {

class SweepJournal {
 public:
  // `files` must outlive it. What is there is read and, where needed, mended; where nothing is
  // there, nothing is written yet.
  static Result<SweepJournal> open(Files& files, const std::string& path);

  const std::string& path() const { return path_; }
  const std::optional<SweepHeader>& header() const { return header_; }
  const std::vector<SweepEntry>& entries() const { return entries_; }

  // kUsage where the journal was begun with another header.
  Result<void> check(const SweepHeader& header) const;
  // The first time, or again with an equal header; fails as check() does.
  Result<void> begin(const SweepHeader& header);
  // After begin(). kIo: the entry may not be there after a crash.
  Result<void> add(const SweepEntry& entry);

 private:
  SweepJournal(Files& files, std::string path) : files_(&files), path_(std::move(path)) {}
  Result<void> read(const std::string& text);
  Result<void> rewrite();

  Files* files_;
  std::string path_;
  std::optional<SweepHeader> header_;
  std::vector<SweepEntry> entries_;
  std::unique_ptr<AppendFile> file_;  // once begun
};

}  // namespace hypermile
