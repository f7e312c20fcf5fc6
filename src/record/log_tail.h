// SPDX-License-Identifier: Apache-2.0
//
// Follows event logs as they grow: each poll takes the lines that were appended since and adds them
// to the digest of their run. A log that was replaced or cut is read anew from its beginning; half
// a line at the end waits for its other half; lines that are no events are counted. Never holds the
// log itself in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "record/run_digest.h"

namespace hypermile {

struct DigestSize {
  std::size_t points = 1500;  // of each series
  std::size_t lines = 1500;   // in words
  std::size_t runs = 50;      // of one log: the newest
};

class LogTail {
 public:
  explicit LogTail(std::string path, DigestSize size = {}) : path_(std::move(path)), size_(size) {}

  // Takes what is new, all of it; whether anything was. kNotFound, kIo; a later poll may succeed.
  Result<bool> poll();

  // The same for text that is no file's, as of a run in memory.
  void add(std::string_view text) { take_text(text); }

  const std::string& path() const { return path_; }
  const std::vector<std::unique_ptr<RunDigest>>& runs() const { return runs_; }
  std::size_t runs_left_out() const { return runs_left_out_; }
  std::uint64_t events() const { return events_; }
  std::uint64_t unreadable_lines() const { return unreadable_; }
  bool half_a_line() const { return !rest_.empty(); }  // at the end, so far

 private:
  Result<void> open();
  void take_text(std::string_view text);
  void take_line(std::string_view line);

  std::string path_;
  DigestSize size_;
  Descriptor file_;
  std::uint64_t inode_ = 0;
  std::uint64_t offset_ = 0;
  std::string rest_;  // of a line that has no end yet
  std::vector<std::unique_ptr<RunDigest>> runs_;
  std::size_t runs_left_out_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t unreadable_ = 0;
};

// A whole log, read once. kParse where no line of it is an event: it is something else.
Result<LogTail> read_log(const std::string& path, DigestSize size = {});

}  // namespace hypermile
