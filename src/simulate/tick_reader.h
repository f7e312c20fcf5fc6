// SPDX-License-Identifier: Apache-2.0
//
// Exact ticks of a simulated job: when each training iteration began, as a framework's callback
// would tell. Reads the ring that the simulated GPU keeps; must be asked at least once every 256
// iterations, or the oldest are gone (they are then counted, not invented).
#pragma once

#include "sim/sim_gpu.h"
#include "simulate/progress_reader.h"

namespace hypermile {

class TickReader final : public ProgressReader {
 public:
  explicit TickReader(SimGpu& gpu) : gpu_(gpu), seen_(gpu.state().ticks.count) {}

  std::vector<Tick> take() override;

 private:
  SimGpu& gpu_;
  std::uint64_t seen_;
};

}  // namespace hypermile
