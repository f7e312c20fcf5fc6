// SPDX-License-Identifier: Apache-2.0
//
// Reads an event log as it is written, with the times of its lines. The product reads logs through
// LogTail, which shifts times and keeps digests only.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "record/event.h"

namespace hypermile {

struct LoggedEvents {
  std::vector<Event> events;
  std::size_t unreadable_lines = 0;  // torn by a crash, or written by a newer version
};

inline LoggedEvents events_in(std::istream& log) {
  LoggedEvents found;
  for (std::string line; std::getline(log, line);) {
    if (line.empty()) continue;
    Result<Event> event = parse_event(line);
    if (event) {
      found.events.push_back(std::move(event).value());
    } else {
      ++found.unreadable_lines;
    }
  }
  return found;
}

inline LoggedEvents events_in_file(const std::string& path) {
  std::ifstream log(path);
  return events_in(log);
}

inline LoggedEvents events_in_text(const std::string& text) {
  std::istringstream log(text);
  return events_in(log);
}

}  // namespace hypermile
