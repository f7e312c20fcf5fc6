// SPDX-License-Identifier: Apache-2.0
//
// Repeats power_vs_clock.csv, recorded on an H200, in the simulator: the same bursts and gaps, with
// the limiter and every effect enabled. Compares mean power and time per operation. Fails where the
// file cannot be read.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hypermile {

struct H200Point {
  std::string kernel;
  double duty = 0;  // duration of the burst over that of burst and gap
  double power_w = 0, simulated_power_w = 0;
  double op_us = 0, simulated_op_us = 0;
};

Result<std::vector<H200Point>> h200_points(const std::string& csv);

}  // namespace hypermile
