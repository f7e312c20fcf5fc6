// SPDX-License-Identifier: Apache-2.0
//
// The course of one sweep: which Window comes next, what became of it, how long the rest will take.
// It is asked as a policy by the Controller, which does everything else (leases, settling, phases,
// spoiled Windows, giving back), and lives beside it, because a Controller may ask for a policy
// several times.
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

#include "control/controller_options.h"
#include "trial/sweeping/sweep_grid.h"
#include "trial/sweeping/sweep_journal.h"

namespace hypermile {

struct SweepTerms {
  SweepGrid grid;
  std::string workload;           // as the table calls it
  std::string gpu;                // as it was typed; empty: whatever the job uses
  Seconds warm_up = Seconds(10);  // at the default before anything is measured
  Seconds settle = Seconds(2);    // at a new Setting, beyond the Controller's own settling
  std::optional<Seconds> window;  // absent: as long as the job's scatter asks for
  std::uint64_t seed = 1;         // of what is simulated
};

struct SweepProgress {
  std::size_t done = 0;  // of the plan
  std::size_t planned = 0;
  std::size_t refused = 0;      // of those done
  std::optional<Seconds> left;  // by what the others took in this run
  std::string doing;            // in words
};

class SweepCourse {
 public:
  // `journal` must outlive it. `say` gets a line for a person where a Window is given up.
  SweepCourse(SweepTerms terms, SweepJournal& journal, std::function<void(const std::string&)> say);

  // Ends after the Window of one step is in the journal: for jobs in virtual time, each step of
  // which is a job of its own.
  void one_step_only() {
    one_step_ = true;
    run_ = 0;
  }

  // What the journal holds is this sweep, as far as can be told before a GPU is open; else kUsage.
  Result<void> check() const;

  ControllerOptions controller_options() const;
  std::function<Result<std::unique_ptr<Policy>>(const PhaseFacts&, PolicyContext)> maker();

  bool complete() const;  // every step of the plan is in the journal
  bool over() const;      // nothing more will be measured in this run
  const std::optional<Error>& problem() const { return problem_; }  // then, where something failed
  SweepProgress progress(Instant now) const;
  // Nothing could be measured at all: the step in hand is given up.
  void give_up(const std::string& why);

 private:
  friend class SweepPolicy;
  enum class Purpose { kWarmUp, kSettling, kReference, kMeasure, kNothing };

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
  std::vector<Setting> plan_;                                              // once begun
  std::optional<std::pair<const ProcessProgress*, std::uint32_t>> phase_;  // the one swept
  Seconds typical_;
  Seconds warmed_;
  bool referenced_ = false;  // a default was measured in this run
  std::optional<Setting> settled_;
  std::shared_ptr<const Features> features_;  // collected, not yet in the journal
  Purpose purpose_ = Purpose::kNothing;
  int attempts_ = 0;
  Instant first_begin_, last_end_;  // of Windows of this run
  bool timed_ = false;
  std::optional<Error> problem_;
};

}  // namespace hypermile
