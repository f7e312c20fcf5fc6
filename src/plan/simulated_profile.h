// SPDX-License-Identifier: Apache-2.0
//
// The file that hypermile.profile_layers() would write on a simulated card: every distinct layer by
// itself, forward and backward, at each setting, by the simulator's physics and with noise. Called
// by `hypermile sweep --layers`, by plan_evidence and by tests. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/cost_table.h"

namespace hypermile {

struct SimulatedProfile {
  Precision precision = Precision::kTf32;
  std::vector<Setting> settings;  // settings that the card does not have are left out
  Efficiency kernels = {};        // what the card's kernels really reach
  double noise = 0;               // relative standard deviation of each time and energy
  std::uint64_t seed = 1;
};

// CSV with the columns of the Python package, which read_measured_layers() reads.
std::string simulated_profile(const Network& network, const GpuSheet& sheet,
                              const SimulatedProfile& how);

// The settings of a cost table for this network, the default first.
std::vector<Setting> offered_settings(const Network& network, const GpuSheet& sheet,
                                      Precision precision);

}  // namespace hypermile
