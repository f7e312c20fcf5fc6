// SPDX-License-Identifier: Apache-2.0
//
// Follows an event log as it grows: each poll reads the lines that were appended since the last
// poll and adds them to the digest of their run. A log that was replaced or truncated is read again
// from its beginning; half a line at the end waits for its other half; lines that are not events
// are counted. The log itself is never held in memory.
//
// Times count from the run's first event. Logs of version 0.1 have the machine's uptime there, so
// the time of run_start is subtracted from every instant.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "record/run_digest.h"

namespace hypermile {

struct DigestSize {
  std::size_t points = 1500;  // in each series
  std::size_t lines = 1500;   // of decisions in words
  std::size_t runs = 50;      // the newest runs of one log
};

class LogTail {
 public:
  explicit LogTail(std::string path, DigestSize size = {}) : path_(std::move(path)), size_(size) {}

  // Reads what is new, 16 MB at most, and returns whether anything was. Fails with kNotFound or
  // kIo, also where the path names no regular file; a later poll may succeed.
  Result<bool> poll();

  // Does the same with text that is not in a file.
  void add(std::string_view text) { take_text(text); }

  const std::string& path() const { return path_; }
  const std::vector<std::unique_ptr<RunDigest>>& runs() const { return runs_; }
  std::size_t runs_left_out() const { return runs_left_out_; }
  std::uint64_t events() const { return events_; }
  std::uint64_t unreadable_lines() const { return unreadable_; }
  // The text so far ends in the middle of a line.
  bool half_a_line() const { return !rest_.empty(); }

 private:
  Result<void> open();
  void take_text(std::string_view text);
  void take_line(std::string_view line);
  void begin_run(const Event& first);

  std::string path_;
  DigestSize size_;
  Descriptor file_;
  std::uint64_t inode_ = 0;
  std::uint64_t offset_ = 0;
  std::string rest_;   // a line that has no end yet
  Instant run_began_;  // the first event of the newest run
  // Runs at the default that a simulator has played, by the job that they trained.
  std::map<std::string, DefaultRun> default_runs_;
  std::vector<std::unique_ptr<RunDigest>> runs_;
  std::size_t runs_left_out_ = 0;
  std::uint64_t events_ = 0;
  std::uint64_t unreadable_ = 0;
};

// Reads a whole log once. kParse where no line of the file is an event.
Result<LogTail> read_log(const std::string& path, DigestSize size = {});

}  // namespace hypermile
