// SPDX-License-Identifier: Apache-2.0
//
// Writes and reads event logs: one JSON object a line, appended with one write each, so that a log
// is readable to its last whole line whatever dies when. A log may hold several runs, one after the
// other.
//
// Writing never blocks a job's fate: when the disk is full the log stops, says so once, and counts
// what it lost. One thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "record/event.h"

namespace hypermile {

// Where lines go; tests put failing ones here.
class LineSink {
 public:
  virtual ~LineSink() = default;
  // All of `text` or an error; after an error part of it may be there.
  virtual Result<void> write(std::string_view text) = 0;
  // Until what was written survives a power cut.
  virtual Result<void> sync() = 0;
};

// Appends to `path`, creating it. If a crash left half a line at its end, that line is closed first
// so that what follows stays readable.
Result<std::unique_ptr<LineSink>> open_log_file(const std::string& path);

class EventLog {
 public:
  // Without a sink it only tells its listener.
  EventLog(std::unique_ptr<LineSink> sink, const Clock& clock);

  // Is told of every event before it is written, also of those that are lost.
  void listen(std::function<void(const Event&)> listener) { listener_ = std::move(listener); }

  // Stamped with now. The first failure is returned; after it events are only counted as lost.
  Result<void> append(EventBody body);

  std::size_t lost() const { return lost_; }

 private:
  std::unique_ptr<LineSink> sink_;
  const Clock& clock_;
  std::function<void(const Event&)> listener_;
  bool broken_ = false;
  std::size_t lost_ = 0;
};

struct EventLogContent {
  std::vector<Event> events;
  std::size_t unreadable_lines = 0;  // torn by a crash, or written by a newer version
};

// kNotFound if it cannot be opened; lines that cannot be read are counted, not fatal.
Result<EventLogContent> read_event_log(const std::string& path);

}  // namespace hypermile
