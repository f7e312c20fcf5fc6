// SPDX-License-Identifier: Apache-2.0
//
// Summarises many runs of each policy: how much of the possible saving it reached, and how often it
// broke the bound. Called by `evaluate` and the evidence programs; pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "trial/judge/replay.h"

namespace hypermile {

struct Interval {
  double low = 0;
  double high = 0;
};

struct PolicySummary {
  std::string policy;
  std::size_t runs = 0;
  double mean_oracle_saved = 0;
  double mean_saved = 0;
  double share_of_oracle = 0;  // mean saving over mean oracle saving; 0 where that is 0
  // 95 % interval of that share, by resampling whole curves, as runs on one curve are not
  // independent.
  Interval share_interval;
  double final_share_of_oracle = 0;  // the same for the kept settings, without exploration
  double mean_slowdown = 0;
  double max_slowdown = 0;
  std::size_t violations_job = 0;
  std::size_t violations_final = 0;
  std::size_t violations_final_half_point = 0;
  std::size_t losses = 0;           // runs that spent over 0.3 % more than the default
  std::size_t ends_at_default = 0;  // runs that kept the default
  double mean_probes = 0;
  double median_held_after = 0;  // RunResult::held_after, of the runs that held a setting
  double mean_settings_visited = 0;
};

// One summary per policy, in order of first appearance.
std::vector<PolicySummary> summarise(std::span<const RunResult> runs);

}  // namespace hypermile
