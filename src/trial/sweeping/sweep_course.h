// SPDX-License-Identifier: Apache-2.0
//
// The course of one sweep: chooses the next window, records its result, and estimates the remaining
// time. The Controller uses it as a policy and does everything else (leases, settling, phases,
// spoiled windows, restoring). The course lives outside the Controller because the Controller may
// create several policies. Runs on the Controller's thread.
//
//   ASSIGN_OR_RETURN(SweepJournal journal, SweepJournal::open(*files, "F.csv.journal"));
//   SweepCourse course(options, journal);
//   Controller controller({port, course.maker()}, course.controller_options());
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/controller_options.h"
#include "trial/sweeping/sweep_grid.h"
#include "trial/sweeping/sweep_journal.h"

namespace hypermile {

struct SweepOptions {
  SweepGrid grid;
  std::string workload;           // the name in the table
  std::string gpu;                // as typed; empty for the GPU that the job uses
  Seconds warm_up = Seconds(10);  // at the default before the first measurement
  Seconds settle = Seconds(2);    // at a new setting, in addition to the Controller's settling
  std::optional<Seconds> window;  // without it, as long as the job's scatter requires
  std::uint64_t seed = 1;         // for simulated jobs
};

struct SweepProgress {
  std::size_t done = 0;  // windows measured or given up
  std::size_t planned = 0;
  std::size_t refused = 0;      // windows given up
  std::optional<Seconds> left;  // estimated from the windows of this run
  std::string doing;            // the setting being measured
};

class SweepCourse {
 public:
  // `journal` must outlive it. `say` receives a line for the user where a window is given up.
  SweepCourse(SweepOptions options, SweepJournal& journal,
              std::function<void(const std::string&)> say);

  // Ends the run after one window is in the journal. For simulated jobs in virtual time, in which
  // every window is measured on a job of its own.
  void one_step_only() {
    one_step_ = true;
    run_ = 0;
  }

  // Returns kUsage where the journal belongs to another sweep, as far as that is known before a GPU
  // is opened.
  Result<void> check() const;

  ControllerOptions controller_options() const;
  std::function<Result<std::unique_ptr<Policy>>(const PhaseFacts&, PolicyContext)> maker();

  bool complete() const;  // the journal has every window
  bool over() const;      // this run measures nothing more
  const std::optional<Error>& problem() const { return problem_; }  // why the run ended early
  SweepProgress progress(Instant now) const;
  // Gives up the current window, because nothing could be measured.
  void give_up(const std::string& why);

 private:
  friend class SweepPolicy;
  enum class Purpose { kWarmUp, kSettling, kReference, kMeasure, kNothing };

  Result<void> start(const PhaseFacts& facts, const PolicyContext& context);
  std::optional<std::size_t> next_step() const;
  Step next(const PolicyContext& context);
  void observe(const Window& window);
  void record(SweepEntry entry);

  SweepOptions options_;
  SweepJournal& journal_;
  std::function<void(const std::string&)> say_;
  bool one_step_ = false;
  std::size_t run_ = 0;
  std::size_t entries_before_ = 0;  // journal entries of earlier runs
  std::vector<Setting> order_;      // empty until the sweep has begun
  std::optional<std::pair<const ProcessProgress*, std::uint32_t>> phase_;  // the phase being swept
  Seconds typical_;
  Seconds warmed_;
  bool referenced_ = false;  // whether this run has measured the default
  std::optional<Setting> settled_;
  std::shared_ptr<const Features> features_;  // not yet in the journal
  Purpose purpose_ = Purpose::kNothing;
  int attempts_ = 0;
  Instant first_begin_, last_end_;  // times of this run's windows
  bool timed_ = false;
  std::optional<Error> problem_;
};

}  // namespace hypermile
