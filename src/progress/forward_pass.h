// SPDX-License-Identifier: Apache-2.0
//
// Tells the evaluation of a network from its training by their kernels. A pure function.
#pragma once

#include <vector>

#include "progress/launch_detector.h"

namespace hypermile {

// Whether `part` launches little but the forward pass of `training`: it launches less, its kernels
// are the training's, and it lacks most of those that the training has. A training of fewer layers
// has the kernels of the backward pass and of the optimizer too.
bool is_forward_pass(const std::vector<KernelShare>& part,
                     const std::vector<KernelShare>& training);

}  // namespace hypermile
