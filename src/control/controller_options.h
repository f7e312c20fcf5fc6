// SPDX-License-Identifier: Apache-2.0
//
// What a Controller is told (controller.h): options, the parts it works with, and what it says of a
// phase when it asks for a policy.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/setting_port.h"
#include "measure/gpu_watch.h"
#include "measure/performance_counters.h"
#include "policy/policy.h"
#include "progress/follow/process_progress.h"

namespace hypermile {

struct ControllerOptions {
  std::string policy = "hypermile";
  Objective objective = {};
  std::vector<Knob> knobs = {Knob::kSmClock, Knob::kMemoryClock};
  // Length of the job as the user counts it (optimizer steps); absent: guessed as it runs.
  std::optional<double> job_iterations = {};
  // To choose from, the default (empty) first; empty: what the cards list (gpu/setting_grid.h).
  std::vector<Setting> settings = {};
  std::uint64_t seed = 1;
  // Goes back to the default where the job as a whole comes near the bound, whatever the policy
  // believes (policy/job_ledger.h).
  bool guard = true;
  // One Setting is kept: the job's time is not shared between two.
  bool steady = false;
  // GPUs that wait for the others are told less once a Setting is held (slack_keeper.h).
  bool slack = true;
  // A job whose pace or power at a Setting held has changed for good is searched anew. Not for a
  // node that decides with others: what those are told moves its pace at the same Setting too.
  bool changes = true;
};

// A phase of the job for which a policy is wanted.
struct PhaseFacts {
  const ProcessProgress* process = nullptr;  // whose iterations are counted
  std::uint32_t phase = 0;
  std::vector<const GpuWatch*> gpus;  // of the job, in order of the claim
  Seconds typical;                    // time of an iteration at the default
};

// Who predicts other Settings for the policy of a phase.
using PredictForPhase =
    std::function<PredictRatios(const PhaseFacts& facts, const PolicyContext& context)>;

struct ControllerParts {
  SettingPort& port;
  // Makes the policy of a phase; empty: make_policy(options.policy, context). For whoever knows
  // more than the Controller (a judge the truth, a cache what an earlier run found).
  std::function<Result<std::unique_ptr<Policy>>(const PhaseFacts& facts, PolicyContext context)>
      make_policy = {};
  PredictForPhase predict = {};  // empty: nobody
  // Reads performance counters while features are collected; null: nobody.
  PerformanceCounters* counters = nullptr;
};

}  // namespace hypermile
