// SPDX-License-Identifier: Apache-2.0
//
// The course of one sweep: which window comes next, what became of it, how long the rest will take.
// To the Controller it is a policy. The Controller does everything else: leases, settling, phases,
// spoiled windows, giving the GPU back. A course outlives its policies, because a Controller may
// make a policy several times. `sweep` uses it beside living jobs and on the virtual rig.
//
//   ASSIGN_OR_RETURN(SweepJournal journal, SweepJournal::open(*files, "F.csv.journal"));
//   SweepCourse course(terms, journal);
//   Controller controller({port, course.maker()}, course.controller_options());
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/controller.h"
#include "trial/sweeping/sweep_grid.h"
#include "trial/sweeping/sweep_journal.h"

namespace hypermile {

struct SweepTerms {
  SweepGrid grid;
  std::string workload;           // name of the job in the table
  std::string gpu;                // as the user typed it; empty: whatever the job uses
  Seconds warm_up = Seconds(10);  // at the default before anything is measured
  Seconds settle = Seconds(2);    // at a new setting, in addition to the Controller's own settling
  std::optional<Seconds> window;  // absent: as long as the scatter of the job's iterations requires
  std::uint64_t seed = 1;         // of simulated jobs
};

struct SweepProgress {
  std::size_t done = 0;  // windows of the plan
  std::size_t planned = 0;
  std::size_t refused = 0;      // windows of those done that were given up
  std::optional<Seconds> left;  // estimated from the windows of this run
  std::string doing;            // the setting that is measured now, in words
};

class SweepCourse {
 public:
  // `journal` must outlive it. `say` gets a line for a person where a window is given up.
  SweepCourse(SweepTerms terms, SweepJournal& journal, std::function<void(const std::string&)> say);

  // The course ends once the window of one step is in the journal. In virtual time each step is a
  // job of its own.
  void one_step_only() {
    one_step_ = true;
    run_ = 0;
  }

  // kUsage where the journal holds another sweep, as far as can be known before a GPU is open.
  Result<void> check() const;

  ControllerOptions controller_options() const;
  std::function<Result<std::unique_ptr<Policy>>(const PhaseFacts&, PolicyContext)> maker();

  bool complete() const;  // every step of the plan is in the journal
  bool over() const;      // nothing more will be measured in this run
  const std::optional<Error>& problem() const { return problem_; }  // why it ended early
  SweepProgress progress(Instant now) const;
  // Gives up the step in hand, because nothing could be measured at all.
  void give_up(const std::string& why);

 private:
  friend class SweepPolicy;
  enum class Purpose { kWarmUp, kSettle, kReference, kMeasure, kNothing };

  Result<void> start(const PhaseFacts& facts, const PolicyContext& context);
  std::optional<std::size_t> next_step() const;
  Step next(const PolicyContext& context);
  void observe(const Window& window);
  void record(SweepEntry entry);

  SweepTerms terms_;
  SweepJournal& journal_;
  std::function<void(const std::string&)> say_;
  bool one_step_ = false;
  std::size_t run_ = 0;
  std::size_t entries_before_ = 0;                                         // of earlier runs
  std::vector<Setting> plan_;                                              // empty before start()
  std::optional<std::pair<const ProcessProgress*, std::uint32_t>> phase_;  // that is swept
  Seconds typical_;
  Seconds warmed_;
  bool referenced_ = false;  // a default was measured in this run
  std::optional<Setting> settled_;
  std::shared_ptr<const Features> features_;  // collected, not yet in the journal
  Purpose purpose_ = Purpose::kNothing;
  int attempts_ = 0;
  Instant first_begin_, last_end_;  // of the windows of this run
  bool timed_ = false;
  std::optional<Error> problem_;
};

}  // namespace hypermile
