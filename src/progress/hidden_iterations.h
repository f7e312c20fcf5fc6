// SPDX-License-Identifier: Apache-2.0
//
// How many whole iterations of a known pattern hide in launches among which no boundary was seen:
// in a start-up, between two locks, around an evaluation. Launches alone do not tell, because an
// evaluation adds its own. But it adds only kernels of the forward pass, so the kernels that are
// rarest in the stretch, compared with one iteration, tell how often the whole was done. Used by
// the detector and for recordings; pure functions.
#pragma once

#include <span>
#include <vector>

namespace hypermile {

// One kernel of the pattern.
struct HiddenKernel {
  double per_iteration = 0;
  double launched = 0;  // in the stretch
};

// 0 where the pattern has no kernel that every iteration launches.
double hidden_iterations(std::vector<HiddenKernel> kernels);

}  // namespace hypermile
