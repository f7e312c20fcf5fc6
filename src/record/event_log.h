// SPDX-License-Identifier: Apache-2.0
//
// Writes and reads event logs: one JSON object per line. Each line is appended with one write, so a
// log is readable up to its last whole line after any crash. A log may hold several runs, one after
// the other. The times of a run count from its first event, which carries the wall time.
//
// A log that cannot be written never harms the job: when the disk is full the log stops, reports
// that once, and counts what it lost. One thread at a time may call.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "record/event.h"

namespace hypermile {

// Where lines are written to; tests use sinks that fail.
class LineSink {
 public:
  virtual ~LineSink() = default;
  // Writes all of `text` or returns an error; after an error part of the text may be written.
  virtual Result<void> write(std::string_view text) = 0;
  // Returns when everything written so far survives a power cut.
  virtual Result<void> sync() = 0;
};

// Appends to `path` and creates the file where there is none. If a crash left half a line at the
// end of the file, that line is closed first, so that what follows stays readable.
Result<std::unique_ptr<LineSink>> open_log_file(const std::string& path);

class EventLog {
 public:
  // Without a sink, events only go to the listener.
  EventLog(std::unique_ptr<LineSink> sink, const Clock& clock);

  // Calls `listener` with every event before it is written, also with events that are lost.
  void listen(std::function<void(const Event&)> listener) { listener_ = std::move(listener); }

  // Stamps the event with the present time, counted from the first event, as every instant inside
  // it. The first failure is returned; later events are only counted as lost.
  Result<void> append(EventBody body);

  std::size_t lost() const { return lost_; }

 private:
  std::unique_ptr<LineSink> sink_;
  const Clock& clock_;
  std::function<void(const Event&)> listener_;
  std::optional<Instant> first_;  // when the first event was appended
  bool broken_ = false;
  std::size_t lost_ = 0;
};

}  // namespace hypermile
