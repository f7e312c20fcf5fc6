// SPDX-License-Identifier: Apache-2.0
//
// A sweep as a list of windows to measure, and what is known of each window once it was measured.
// Every setting is measured once. The default is measured before the first, after the last and
// after every few settings, so that drift (heat, the job itself) can be taken out. The journal
// keeps both, and the table is made from them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpu/setting.h"
#include "measure/window.h"

namespace hypermile {

// What identifies a sweep. Two sweeps with equal headers are one sweep that was begun twice.
struct SweepHeader {
  std::string gpu;                // name of the card
  std::string uuid;               // of the card
  std::string workload;           // what the job is called in the table
  std::string terms;              // grid, times and seed, as text
  std::vector<Setting> settings;  // to measure beside the default, in order

  bool operator==(const SweepHeader&) const = default;
};

// The settings in the order in which they are measured; an empty one is the default.
std::vector<Setting> plan_sweep(const std::vector<Setting>& settings);

// A window of the plan, measured or given up.
struct SweepEntry {
  std::size_t step = 0;  // index in plan_sweep()
  std::size_t run = 0;   // how often the sweep had begun before
  Setting setting;
  std::optional<double> time_s;  // per iteration; absent where the window was given up
  std::optional<double> power_w;
  std::optional<double> time_error;  // relative standard errors
  std::optional<double> power_error;
  double iterations = 0;
  std::optional<double> sm_mhz;  // mean clocks that the sensors showed
  std::optional<double> mem_mhz;
  double throttled_share = 0;
  std::string refused;                     // why the window was given up
  std::map<std::string, double> features;  // only of a default for which they were collected

  bool measured() const { return time_s && power_w; }
  bool operator==(const SweepEntry&) const = default;
};

SweepEntry entry_of(const Window& window);

}  // namespace hypermile
