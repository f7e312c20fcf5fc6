// SPDX-License-Identifier: Apache-2.0
//
// Measures one Step on one rank: a process of the job and a GPU it uses. From the instant a Setting
// is in force until enough iterations have passed, it joins the process's Boundaries with the GPU's
// readings into a Window. Pauses between two iterations of the phase (an evaluation, a checkpoint)
// are not measured: the Window ends before them if it has enough, or begins anew behind them.
// Pauses that come all the time are how the job runs, and are counted in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "control/pause_watch.h"
#include "control/step_plan.h"
#include "measure/gpu_watch.h"
#include "measure/window_builder.h"
#include "policy/policy.h"
#include "progress/follow/process_progress.h"

namespace hypermile {

struct Rank {
  const ProcessProgress* process = nullptr;
  GpuWatch* gpu = nullptr;
  bool operator==(const Rank&) const = default;
};

struct MeterTerms {
  Setting setting = {};  // in force
  Instant since;         // from here on
  // When the Step began: later than `since` where its Setting was in force before it. The meter
  // moves it on by odd pauses.
  Instant begun;
  PatternId pattern = {};
  double iterations = 0;  // wanted
  Step step = {};         // how soon it may be cut
  StepPlan plan = {};
  std::vector<std::int64_t> job_processes = {};  // others on the GPU are strangers
};

class RankMeter {
 public:
  // `rank` must outlive it. `first`: where the Window before it ended, if nothing changed since.
  RankMeter(Rank rank, MeterTerms terms, const std::optional<CountedBoundary>& first = {});

  // `pause`: before it.
  void add(CountedBoundary at, Pause pause, bool fresh);
  void add(const SamplerReading& reading);
  void add(std::span<const GpuProcess> seen);

  const Rank& rank() const { return rank_; }
  double iterations() const { return iterations_; }  // in the Window so far
  // Has all that was wanted, was cut with enough, or is plainly too slow.
  bool done() const { return done_ || too_slow_; }
  bool too_slow() const { return too_slow_; }
  // So much that it is worth closing before its time.
  bool has_enough() const;
  // Of a whole Window: where the next may begin.
  std::optional<CountedBoundary> end() const;

  Window close() const;
  // Whether so much time has passed at a Setting that is only looked at that it must be too slow,
  // though too few Boundaries say so. They are reported up to `late` late.
  bool overdue(Instant now, Seconds late) const;
  // The Window of a look that cannot go on. Its time per iteration is the least that it can be:
  // fewer iterations passed than would have at any shorter one. Unusable where that is not too
  // slow.
  Window interrupted(Instant now, Seconds late) const;

 private:
  bool is_beyond(Instant now, Seconds late) const;
  Seconds least_time(Instant now, Seconds late) const;
  void begin(const CountedBoundary& at);
  bool may_begin(const CountedBoundary& at, Pause pause);
  // Has the energy counter read where the Window is expected to end.
  void expect_end();
  void extend(const CountedBoundary& at);
  void keep_longest(const CountedBoundary& at);
  bool on_another_axis(const Boundary& boundary) const;
  bool is_too_slow(const Boundary& boundary) const;
  bool behind_pause() const;
  bool ends_round(const CountedBoundary& at) const;

  Rank rank_;
  MeterTerms terms_;
  std::optional<WindowBuilder> builder_;
  struct Stretch {
    double iterations = 0;
    Seconds took = {};
  };
  CountedBoundary first_, last_;
  Stretch longest_;                                          // between two times of the Window
  std::optional<CountedBoundary> first_timed_, last_timed_;  // with GPU times
  double iterations_ = 0;
  double waited_ = 0;                 // iterations, for a pause to begin behind
  double passed_ = 0;                 // iterations reported to the Step, in the Window or not
  Instant passed_at_;                 // when the last of them ended
  std::optional<double> last_pause_;  // the iteration behind it
  int boundaries_ = 0, timed_ = 0;    // behind the first
  int pauses_ = 0;                    // likewise
  int restarts_ = 0;
  bool end_expected_ = false;
  bool done_ = false;
  bool cut_ = false;
  bool too_slow_ = false;
};

}  // namespace hypermile
