// SPDX-License-Identifier: Apache-2.0
//
// One kernel launch of the training process as the injected library saw it: the raw material of
// progress. Filled by the ring's reader, by recordings and by the simulator; read by the detectors.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace hypermile {

struct Launch {
  Instant time;              // of the host, when the launch call was entered
  std::uint32_t kernel = 0;  // dense number of the kernel's name; a whole graph is one
  std::uint32_t blocks = 0;  // in the grid; 0 where unknown, as of a graph
  std::uint32_t stream = 0;  // dense number of the stream launched on
};

}  // namespace hypermile
