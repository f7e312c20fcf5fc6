// SPDX-License-Identifier: Apache-2.0
//
// Plays one job under one policy on a measured curve, which stands in for the GPU. Every iteration
// counts towards the job's energy and time, including those of probes and of settling; the policy
// only sees noisy windows. Noise is drawn for each iteration, so that a window of n iterations has
// the noise of a full window times sqrt(30/n), and an early abort sees the running mean as in a
// real job. The job's drift multiplies the time of an iteration at every setting, so it cancels in
// the slowdown, which is relative to a default run. Called by the tournament; pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
  double oracle_saved = 0;  // all of these are fractions without noise
  double saved = 0;         // over the whole job, with exploration
  double slowdown = 0;
  // What is kept at the end: one Setting, or a mix of Settings by share of iterations, the largest
  // first.
  std::vector<SettingShare> kept;
  double final_saved = 0;
  double final_slowdown = 0;
  std::size_t probes = 0;  // exploration windows
  // Iterations, those of settling among them, until a setting was first held; nullopt where none
  // was.
  std::optional<double> held_after;
  std::size_t settings_visited = 0;  // without the default
  std::size_t aborts = 0;
  bool violated_job = false;
  bool violated_final = false;
  bool violated_final_half_point = false;  // by more than 0.5 percentage points
};

// Returns kUsage where make_policy() fails, and kInternal where the policy returns a setting
// outside its list. The same arguments give the same result.
Result<RunResult> replay(const Curve& curve, std::string_view policy, std::size_t repeat,
                         const Conditions& conditions);

// The same for a policy object, which must have been made for the points of this curve.
Result<RunResult> replay(const Curve& curve, Policy& policy, const Conditions& conditions,
                         std::uint64_t seed);

// Fills in the savings, slowdowns and violations of a job, from its time and mean power relative to
// the default and the iterations `kept` at each point of the curve at its end.
void score_job(const Curve& curve, const Objective& objective, double time_ratio,
               double power_ratio, std::span<const double> kept, RunResult& result);

// The seed of one run, which depends on curve, policy, repeat and conditions.seed.
std::uint64_t replay_seed(const Curve& curve, std::string_view policy, std::size_t repeat,
                          const Conditions& conditions);

// What a policy knows about this curve before the first window.
PolicyContext context_for(const Curve& curve, const Conditions& conditions, std::uint64_t seed);

}  // namespace hypermile
