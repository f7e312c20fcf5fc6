// SPDX-License-Identifier: Apache-2.0
//
// What is known of each phase of the job: how its Windows are planned, its policy, the Step in
// hand, what was measured, whether it has changed. A phase that comes back finds all of it as it
// was left.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/control_summary.h"
#include "control/pace_change.h"
#include "control/phase_watch.h"
#include "control/slack_keeper.h"
#include "policy/job_ledger.h"
#include "policy/policy.h"
#include "progress/follow/process_progress.h"

namespace hypermile {

struct Phase {
  const ProcessProgress* process = nullptr;
  std::uint32_t number = 0;
  PatternId pattern() const { return {number, 0}; }

  PhaseWatch watch;
  std::optional<StepPlan> plan;  // once watched
  std::vector<Setting> settings;
  std::unique_ptr<Policy> policy;
  std::optional<SlackKeeper> slack;  // of a job on several GPUs
  std::optional<Step> step;          // asked for by the policy, no Window for it yet
  double step_begun = 0;             // iterations of the ledger when it was asked for
  bool spoiled = false;              // so often that the default was watched for better times
  int retakes = 0;                   // Windows for it that circumstances spoiled
  bool features_wanted = true;       // of the next baseline
  double iterations = 0;             // counted, measured or not
  // Since the plan: iterations, and the iterations of the usual size that they are worth.
  double plain = 0, weighed = 0;
  std::optional<Setting> decided;  // last written to the log
  bool explored = false;           // and whether that was a probe
  bool forecast = false;           // written since the search began

  // Bursts: a phase is entered and left.
  Instant entered;
  std::size_t bursts = 0;  // that are over
  Seconds in_bursts;       // all of those together
  bool too_brief(Instant now) const;

  // Tests of the held Windows against what the ledger expects of them.
  ChangeTest time_test{0.08};
  ChangeTest power_test{0.1};
  int jumps = 0;         // Windows of the default in a row that were another job's
  int held_windows = 0;  // of the Setting held, since it is
  // When the last new search began; another one waits for kAfterSearch (control_judge.cpp).
  std::optional<Instant> searched;

  // What is known of its pace and of the time that it has lost, since its Settings are known; and
  // the instant until which passing time was reported to it.
  std::optional<JobLedger> ledger;
  std::optional<Instant> accounted;
  bool earning_back = false;  // at the default, since too much was lost

  PhaseControl control;
  // `lowered`: some GPU was told less than joint.setting, because it waits for the others.
  void count(const Window& joint, bool lowered = false);
};

class PhaseBook {
 public:
  // Made where it is met for the first time.
  Phase& of(const ProcessProgress& process, std::uint32_t number);
  // Drops the phases of a process.
  void forget(const ProcessProgress& process);
  const std::vector<std::unique_ptr<Phase>>& phases() const { return phases_; }

 private:
  std::vector<std::unique_ptr<Phase>> phases_;
};

}  // namespace hypermile
