// SPDX-License-Identifier: Apache-2.0
//
// Published results that the simulator's sheets must reproduce: energy and time against clock of
// two kernels on a V100 and one on an A4000, ResNet50 under power limits on a V100, and which
// clocks suit which kind of kernel on an RTX 3080 Ti.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hypermile {

struct CheckPoint {
  std::string what;  // "V100 FMA at 945 MHz: energy"
  double published = 0;
  double simulated = 0;
  double error() const { return simulated / published - 1; }
};

// Fails only if a sheet cannot be read.
Result<std::vector<CheckPoint>> check_points();

// The direction of an effect in a paper, and whether the simulator shows the same.
struct Direction {
  std::string what;
  std::string published;
  std::string simulated;
  bool agrees = false;
};
Result<std::vector<Direction>> kernel_class_directions();

}  // namespace hypermile
