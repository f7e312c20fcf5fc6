// SPDX-License-Identifier: Apache-2.0
//
// How far a sweep has come and how long the rest will take: one line that is overwritten on a
// terminal, a line for every tenth of the way elsewhere.
#pragma once

#include <string>

#include "cli/command.h"
#include "trial/sweeping/sweep_course.h"

namespace hypermile {

class SweepBar {
 public:
  SweepBar(CommandContext& context, bool quiet) : context_(context), quiet_(quiet) {}

  void show(const SweepProgress& progress);
  // Clears the bar and prints one line; the bar comes back with the next progress.
  void say(const std::string& line);
  void clear();

 private:
  CommandContext& context_;
  bool quiet_;
  bool shown_ = false;
  std::size_t tenths_ = 0;
};

// "[######----] 12/20 windows, 3 min left, sm=1200MHz".
std::string bar_text(const SweepProgress& progress);

}  // namespace hypermile
