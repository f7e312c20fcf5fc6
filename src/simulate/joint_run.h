// SPDX-License-Identifier: Apache-2.0
//
// One simulated job on several GPUs under one policy, in virtual time: one joint decision from
// joint Windows, then slack. A plain loop for judging both; `simulate --gpus N`, tests and evidence
// call it. What it reports is the simulator's truth, not what was measured.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "simulate/simulated_run.h"

namespace hypermile {

struct JointJob {
  SimulatedJob job;
  std::size_t gpus = 2;
  // The lightest rank has this much less work than the heaviest; the others lie between, in an
  // order drawn from the seed. 0: all have the same.
  double imbalance = 0;
  bool slack = true;  // look for it after the joint decision
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
  std::size_t windows = 0;
  std::size_t unusable = 0;
  std::size_t probes = 0;               // exploration Windows of the policy
  std::size_t slack_windows = 0;        // spent on the search for slack
  std::optional<double> settled_after;  // iterations until the policy first held a Setting
  Setting kept;                         // the joint one
  std::vector<Setting> kept_each;       // where slack was found; else empty
};

// How two runs of one job compare: `run` against `base`, relative.
struct JointChange {
  double slowdown = 0;
  double saved = 0;
};
JointChange change(const JointTotals& run, const JointTotals& base);

// Work of each rank, the heaviest 1.
std::vector<double> work_of(const JointJob& job);

// Plays the job to its end, or until `stop`. kUsage where the policy is refused.
Result<JointOutcome> play_joint(const JointJob& job, std::string_view policy,
                                std::stop_token stop = {});

}  // namespace hypermile
