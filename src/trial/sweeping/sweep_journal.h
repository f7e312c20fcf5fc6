// SPDX-License-Identifier: Apache-2.0
//
// What a sweep has measured, on disk: F.csv.journal beside the F.csv that is made from it. The
// first line of JSON describes the sweep. Each window adds a line, which is synced before the next
// window begins. So a crash at any instant keeps all complete lines; half a line at the end is cut
// off. A journal that is broken in the middle, or that belongs to another sweep, is refused by name
// and stays as it is.
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
  // `files` must outlive it. Reads the journal where there is one, and mends its end where that is
  // necessary. Writes nothing where there is none.
  static Result<SweepJournal> open(Files& files, const std::string& path);

  const std::string& path() const { return path_; }
  const std::optional<SweepHeader>& header() const { return header_; }
  const std::vector<SweepEntry>& entries() const { return entries_; }

  // kUsage where the journal was begun with another header.
  Result<void> check(const SweepHeader& header) const;
  // Begins the journal, or goes on with one that has an equal header; fails as check() does.
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
  std::unique_ptr<AppendFile> file_;  // null before begin()
};

}  // namespace hypermile
