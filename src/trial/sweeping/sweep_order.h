// SPDX-License-Identifier: Apache-2.0
//
// A sweep as a list of windows: every setting once, and the default before the first setting, after
// the last and after every four, so that drift (heat, the job itself) can be removed. Also what is
// known about each window once it is measured. The journal stores both, and the table is made from
// them. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpu/setting.h"
#include "measure/window.h"

namespace hypermile {

// What identifies a sweep. Two runs with equal headers continue the same sweep.
struct SweepHeader {
  std::string gpu;                // name of the card
  std::string uuid;               // UUID of the card
  std::string workload;           // the job's name in the table
  std::string options;            // grid, durations and seed, as text
  std::vector<Setting> settings;  // to be measured in this order, without the default

  bool operator==(const SweepHeader&) const = default;
};

// The settings in the order of measurement; empty ones are the default.
std::vector<Setting> sweep_order(const std::vector<Setting>& settings);

// One window of the sweep, measured or given up.
struct SweepEntry {
  std::size_t step = 0;  // index into sweep_order()
  std::size_t run = 0;   // how many times the sweep had been started before
  Setting setting;
  std::optional<double> time_s;  // per iteration; absent where given up
  std::optional<double> power_w;
  std::optional<double> time_error;   // relative standard error
  std::optional<double> power_error;  // relative standard error
  double iterations = 0;
  std::optional<double> sm_mhz;  // the clock that was observed
  std::optional<double> mem_mhz;
  double throttled_share = 0;
  std::string refused;                     // why it was given up
  std::map<std::string, double> features;  // only for a default window with collected features

  bool measured() const { return time_s && power_w; }
  bool operator==(const SweepEntry&) const = default;
};

SweepEntry entry_of(const Window& window);

}  // namespace hypermile
