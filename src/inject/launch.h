// SPDX-License-Identifier: Apache-2.0
//
// One kernel launch of the training process, as the injected library saw it. Progress is derived
// from these. The ring's reader, recordings and the simulator fill it; the detectors read it.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace hypermile {

// The kernel of launches whose kernels' names found no room; they are different kernels.
inline constexpr std::uint32_t kOtherKernel = 0xffff'fffe;

struct Launch {
  Instant time;  // host time when the launch call was entered
  // Dense number of the kernel's name; a whole graph counts as one kernel.
  std::uint32_t kernel = 0;
  std::uint32_t blocks = 0;  // blocks in the grid; 0 if unknown, as for a graph
  std::uint32_t stream = 0;  // dense number of the stream
};

}  // namespace hypermile
