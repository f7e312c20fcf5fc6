// SPDX-License-Identifier: Apache-2.0
//
// power_vs_clock.csv of an H200 run through the simulator: the same bursts and gaps, with the
// limiter and every effect as they are; mean power and time of an operation compared.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hypermile {

struct H200Point {
  std::string kernel;
  double duty = 0;  // of the burst in burst and gap
  double power_w = 0, simulated_power_w = 0;
  double op_us = 0, simulated_op_us = 0;
};

Result<std::vector<H200Point>> h200_points(const std::string& csv);

}  // namespace hypermile
