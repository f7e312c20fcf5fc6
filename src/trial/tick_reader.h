// SPDX-License-Identifier: Apache-2.0
//
// Exact ticks of a simulated job: when each training iteration began, as a framework's callback
// would tell. Reads the ring that the simulated GPU keeps; must be asked at least once every 256
// iterations, or the oldest are gone (they are then counted, not invented).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/sim_gpu.h"

namespace hypermile {

struct Tick {
  std::uint64_t iteration = 0;  // number of the training iteration that began
  Instant time;                 // of the host
};

class TickReader {
 public:
  explicit TickReader(SimGpu& gpu) : gpu_(gpu), seen_(gpu.state().ticks.count) {}

  // Those since the last call, in order.
  std::vector<Tick> take();

 private:
  SimGpu& gpu_;
  std::uint64_t seen_;
};

}  // namespace hypermile
