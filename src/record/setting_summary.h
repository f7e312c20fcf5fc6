// SPDX-License-Identifier: Apache-2.0
//
// What a log says of each Setting: time, power and energy per iteration with their standard errors,
// and how they compare with the default. Tables that people see are made from this, that is, from
// the log.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "record/event.h"
#include "record/weighted_mean.h"

namespace hypermile {

struct SettingSummary {
  Setting setting;
  std::size_t windows = 0;
  std::size_t unusable_windows = 0;
  WeighedMean time_s;  // per iteration
  WeighedMean power_w;
  WeighedMean energy_j;  // per iteration
  // Against the default, where the log has it: 0.05 is 5 % slower; 0.2 is 20 % less energy.
  std::optional<double> slowdown;
  std::optional<double> saved;
};

// One for each Setting with a usable Window, in order of first appearance. Windows are weighed by
// their iterations. Only those of one process, phase and level can be compared: these are of the
// one in which most of the time was spent.
std::vector<SettingSummary> summarize_settings(std::span<const Event> events);

}  // namespace hypermile
