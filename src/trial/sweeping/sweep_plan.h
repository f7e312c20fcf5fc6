// SPDX-License-Identifier: Apache-2.0
//
// A sweep as a list of Windows to measure: every Setting once, the default before the first, after
// the last and every few between, so that what drifts meanwhile (heat, the job itself) can be taken
// out. And what is known of each Window once it was measured. The journal keeps both, the table is
// made from them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpu/setting.h"
#include "measure/window.h"

namespace hypermile {

// What a sweep is of. Two sweeps that agree in all of it are one, begun twice.
struct SweepHeader {
  std::string gpu;                // name of the card
  std::string uuid;               // of the card
  std::string workload;           // what the job is called in the table
  std::string terms;              // grid, times and seed, as text
  std::vector<Setting> settings;  // to be measured beside the default, in order

  bool operator==(const SweepHeader&) const = default;
};

// The Settings in the order in which they are measured; empty ones are the default.
std::vector<Setting> plan_sweep(const std::vector<Setting>& settings);

// A Window of the plan, measured or given up.
struct SweepEntry {
  std::size_t step = 0;  // of plan_sweep()
  std::size_t run = 0;   // how often the sweep had been begun before
  Setting setting;
  std::optional<double> time_s;  // per iteration; absent: given up
  std::optional<double> power_w;
  std::optional<double> time_error;  // relative standard errors
  std::optional<double> power_error;
  double iterations = 0;
  std::optional<double> sm_mhz;  // seen
  std::optional<double> mem_mhz;
  double throttled_share = 0;
  std::string refused;                     // why it was given up
  std::map<std::string, double> features;  // of a baseline for which they were collected

  bool measured() const { return time_s && power_w; }
  bool operator==(const SweepEntry&) const = default;
};

SweepEntry entry_of(const Window& window);

}  // namespace hypermile
