// SPDX-License-Identifier: Apache-2.0
//
// Plays one job on a measured curve under one policy: the curve is the GPU. Every iteration counts
// in the job's energy and time, those of probes and of settling included; the policy sees only
// noisy windows. The noise is drawn per iteration, so that a window of n iterations has the noise
// of a full one times sqrt(30/n) and an early abort decides on the running mean as a living job
// would. The job's own drift multiplies the time of an iteration at any Setting, so it cancels in
// the ratio to the default run that defines the slowdown.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "policy/policy.h"
#include "sweep/curve.h"
#include "trial/judge/conditions.h"
#include "trial/judge/truth.h"

namespace hypermile {

struct RunResult {
  JobKey key;
  std::string policy;
  std::size_t repeat = 0;
  double oracle_saved = 0;  // fractions throughout; noise free
  double saved = 0;         // over the whole job, exploration included
  double slowdown = 0;
  Setting final_setting;  // kept at the end
  double final_saved = 0;
  double final_slowdown = 0;
  std::size_t probes = 0;            // exploration windows
  std::size_t settings_visited = 0;  // the default not counted
  std::size_t aborts = 0;
  bool violated_job = false;
  bool violated_final = false;
  bool violated_final_half_point = false;  // by more than 0.005
};

// kUsage where make_policy() refuses, kInternal where the policy leaves its list of Settings.
// The same arguments give the same result.
Result<RunResult> replay(const Curve& curve, std::string_view policy, std::size_t repeat,
                         const Conditions& conditions);

// The same for a policy in hand, which must have been made for this curve's points.
Result<RunResult> replay(const Curve& curve, Policy& policy, const Conditions& conditions,
                         std::uint64_t seed);

// Fills in what a job was worth that took and drew so much of the default's time and power, and
// ended at the point `kept`.
void score_job(const Curve& curve, const Objective& objective, double time_ratio,
               double power_ratio, std::size_t kept, RunResult& result);

// Of one run: equal for equal curve, policy and repeat.
std::uint64_t replay_seed(const Curve& curve, std::string_view policy, std::size_t repeat,
                          const Conditions& conditions);

// What a policy is told of this curve before the first window.
PolicyContext context_for(const Curve& curve, const Conditions& conditions, std::uint64_t seed);

}  // namespace hypermile
