// SPDX-License-Identifier: Apache-2.0
//
// One simulated job on several cards of one model, on the virtual rig: joint windows, slack, memory
// across runs. One process trains on all cards, which wait for the slowest in every iteration.
// `simulate --gpus N`, tests and evidence call it. Time and energy in the outcome are the
// simulator's truth, not what was measured.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "control/control_summary.h"
#include "control/job_cache.h"
#include "record/event_log.h"
#include "trial/simulated_job.h"
#include "trial/simulated_training.h"

namespace hypermile {

struct JointJob {
  SimulatedJob job;
  std::size_t gpus = 2;
  // The lightest rank has this much less work than the heaviest; the others lie between, in an
  // order drawn from the seed. 0: all have the same.
  double imbalance = 0;
  bool slack = true;          // look for slack after the joint decision
  JobCache* cache = nullptr;  // memory across runs; may be null
  std::uint64_t run = 0;      // another number: the same job on the same cards with other noise
};

struct JointOutcome {
  std::string policy;
  TrueTotals job;   // from the job's first iteration to its last
  TrueTotals late;  // the job's last third, when everything should be settled
  ControlSummary control;
  bool recalled = false;     // the run began with what an earlier run remembers
  bool interrupted = false;  // the job was cut off, so its totals mean nothing

  // The phase of most measured iterations, which is training; null where no phase was met.
  const PhaseControl* training() const;
};

// How two runs of one job compare: `run` against `base`, relative, for each iteration.
struct JointChange {
  double slowdown = 0;
  double saved = 0;
};
JointChange change(const TrueTotals& run, const TrueTotals& base);

// Work of each rank, where the heaviest has 1.
std::vector<double> work_of(const JointJob& job);

// Plays the job to its end, or until `stop`, and writes the log to `sink` where there is one. kIo
// where no ring can be made.
Result<JointOutcome> play_joint(const JointJob& job, std::string_view policy,
                                std::unique_ptr<LineSink> sink = nullptr,
                                const std::stop_token& stop = {});

}  // namespace hypermile
