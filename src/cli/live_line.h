// SPDX-License-Identifier: Apache-2.0
//
// The one line that tells how a run goes while it goes. It stands on the terminal only where it
// cannot mix with the job's output: when the job's stdout goes elsewhere, or when it is asked for.
// The cursor is left at the line's start, so that whatever the job writes to stderr replaces it.
#pragma once

#include <functional>

#include "cli/command.h"
#include "observe/job_progress.h"
#include "observe/window_book.h"

namespace hypermile {

class LiveLine {
 public:
  LiveLine(CommandContext& context, bool quiet, bool asked_for);

  bool wanted() const { return wanted_; }
  // Lives as long as this.
  std::function<void(const JobProgress&, const WindowBook&)> shower();
  void clear();

 private:
  void show(const JobProgress& progress, const WindowBook& book);

  CommandContext& context_;
  bool wanted_ = false;
  bool shown_ = false;
};

// "412 iterations, 54.62 ms, 33.1 J, 605 W"; what is not known is left out.
std::string live_text(const JobProgress& progress, const WindowBook& book);

}  // namespace hypermile
