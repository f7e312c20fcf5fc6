// SPDX-License-Identifier: Apache-2.0
//
// What a person sees of a run while it lasts, made from its events (record/job_status.h).
//
// A job under `run` shares our terminal: its stderr is ours, and usually its stdout. We cannot know
// where the job left the cursor without reading the terminal's answers from the job's own input. A
// line that we redraw in the text would therefore sooner or later wipe a prompt or a progress bar
// of the job, or leave half of itself behind. Saving the cursor, using the last row or scroll
// regions does the same harm elsewhere, and stays behind if we are killed. Therefore:
//   - on a shared terminal the status is shown in the terminal's title, which is not part of the
//     text; it is renewed every second and put back at the end. The text gets whole lines only, one
//     for each change of state that lasts, at most one in ten seconds, and while clocks are
//     searched at least one a minute;
//   - on a terminal of our own (attach from another terminal), or where the user gives --live and
//     accepts the mixing, one line in the text is renewed in place;
//   - without a terminal only those lines are written.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

#include "record/job_status.h"

namespace hypermile {

enum class LiveManner { kSilent, kLines, kTitle, kInPlace };

struct LiveTerms {
  bool terminal = false;           // stderr is a terminal
  bool shared = true;              // the job may write to the terminal
  bool quiet = false;              // show nothing
  bool asked_for = false;          // --live
  std::string_view term = {};      // $TERM
  std::string_view no_color = {};  // $NO_COLOR
  std::optional<double> bound = {};
};

LiveManner manner_of(const LiveTerms& terms);

class LiveLine {
 public:
  // `err` must outlive it. The destructor clears the line and puts the title back.
  LiveLine(std::ostream& err, const LiveTerms& terms);
  ~LiveLine() { clear(); }
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  void take(const Event& event);
  // Call it before writing anything else to the terminal; the line comes back with the next event.
  void make_room();

 private:
  void clear();
  void note_change(Instant time);
  void tell_change(Instant now);
  void tell_progress(Instant now);
  void renew();
  std::string coloured(const std::string& text) const;

  std::ostream& err_;
  LiveManner manner_;
  bool colours_;
  JobStatus status_;
  std::optional<Instant> begin_, renewed_, told_at_;
  // A change of state that has not lasted yet.
  struct Change {
    Instant time;
    std::string text;
    std::string shown;  // with colours
  };
  std::optional<Change> change_;
  std::string told_;   // the text of the last line
  std::string shown_;  // what is shown now; "" for nothing
};

}  // namespace hypermile
