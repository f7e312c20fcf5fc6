// SPDX-License-Identifier: Apache-2.0
//
// What people see of a run while it goes, made from its events (record/job_status.h).
//
// A job under `run` shares our terminal: its stderr is ours, and usually its stdout. Where it left
// the cursor nobody can know without reading the terminal's answers from the job's own input, so no
// line of ours can be drawn and redrawn in the text without sooner or later wiping a prompt or a
// progress bar of the job, or leaving half of itself behind what the job writes next. Saving the
// cursor, the last row and scroll regions only move that harm elsewhere, and outlive us if we are
// killed. Therefore:
//   - there the line stands in the terminal's own status line, its title, which is no part of the
//     text, is renewed every second, and is given back at the end; and in the text there are whole
//     lines only, one a change of state, appended and never redrawn;
//   - it is renewed in place where the terminal is ours alone (attach from another terminal), or
//     where the user asks for it (--live) and takes the mixing;
//   - without a terminal there are the lines at changes of state alone.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "record/job_status.h"

namespace hypermile {

enum class LiveManner { kSilent, kLines, kTitle, kInPlace };

struct LiveTerms {
  bool terminal = false;           // stderr is one
  bool shared = true;              // the job may write to it
  bool quiet = false;              // nothing is to be said
  bool asked_for = false;          // --live
  std::string_view term = "";      // $TERM
  std::string_view no_color = "";  // $NO_COLOR
  std::optional<double> bound = {};
};

LiveManner manner_of(const LiveTerms& terms);

class LiveLine {
 public:
  // `err` must outlive it. With it goes the line, and the title is given back.
  LiveLine(std::ostream& err, const LiveTerms& terms);
  ~LiveLine() { clear(); }
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  void take(const Event& event);
  // Before anything else is written to the terminal; the line comes back with the next event.
  void make_room();

 private:
  void clear();
  void tell_change(const Event& event);
  void renew();
  std::string coloured(const std::string& text) const;

  std::ostream& err_;
  LiveManner manner_;
  bool colours_;
  JobStatus status_;
  std::optional<Instant> begin_, renewed_;
  std::string shown_;  // what stands there now; "" where nothing does
};

}  // namespace hypermile
