// SPDX-License-Identifier: Apache-2.0
//
// One simulated job on several GPUs of one model, in virtual time, under the whole chain that a
// living one gets: rings, detector, sampler, joint Windows, Controller, slack, memory across runs.
// One process trains on all of them, and they wait for the slowest in every iteration
// (sim/sim_ranks.h). `simulate --gpus N`, tests and evidence call it. Time and energy in the
// outcome are the simulator's truth, not what was measured.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "control/control_summary.h"
#include "control/job_cache.h"
#include "trial/simulated_run.h"

namespace hypermile {

struct JointJob {
  SimulatedJob job;
  std::size_t gpus = 2;
  // The lightest rank has this much less work than the heaviest; the others lie between, in an
  // order drawn from the seed. 0: all have the same.
  double imbalance = 0;
  bool slack = true;          // look for it after the joint decision
  JobCache* cache = nullptr;  // memory across runs; may be null
  std::uint64_t run = 0;      // another one: the same job on the same cards, other noise
};

// Of a stretch of the job, all GPUs together.
struct JointTotals {
  double iterations = 0;
  double seconds = 0;
  double joules = 0;
};

struct JointOutcome {
  std::string policy;
  JointTotals job;   // from its first iteration to its last
  JointTotals late;  // its last third, when everything should be settled
  ControlSummary control;
  bool recalled = false;  // it began with what an earlier run remembers

  // The phase that most was measured of, which is training; null where no phase was met.
  const PhaseControl* training() const;
};

// How two runs of one job compare: `run` against `base`, relative, an iteration.
struct JointChange {
  double slowdown = 0;
  double saved = 0;
};
JointChange change(const JointTotals& run, const JointTotals& base);

// Work of each rank, the heaviest 1.
std::vector<double> work_of(const JointJob& job);

// Plays the job to its end, or until `stop`, and writes the log to `sink` where there is one. kIo
// where no ring can be made.
Result<JointOutcome> play_joint(const JointJob& job, std::string_view policy,
                                std::unique_ptr<LineSink> sink = nullptr,
                                std::stop_token stop = {});

}  // namespace hypermile
