// SPDX-License-Identifier: Apache-2.0
//
// One simulated job on several SimGpus of one Clock: each runs a rank, and all wait for the slowest
// before every iteration (ranks.h). Cards differ by their seeds; the work of ranks may differ too,
// as with uneven shards or pipeline stages. Cannot fail.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "sim/sim_gpu.h"
#include "sim/workload.h"

namespace hypermile {

class SimRanks {
 public:
  // `gpus` must outlive this; while the job runs, it brings them up to date.
  explicit SimRanks(std::vector<SimGpu*> gpus) : gpus_(std::move(gpus)) {}
  ~SimRanks();
  SimRanks(const SimRanks&) = delete;
  SimRanks& operator=(const SimRanks&) = delete;

  // Starts the job now. `work[i]` scales the operations and bytes of rank i; a missing entry means
  // 1.
  void start(const Workload& workload, std::uint64_t iterations = 0,
             const std::vector<double>& work = {});
  // Moves every rank to `now`; called by the SimGpus.
  void advance(Instant now);

 private:
  std::vector<SimGpu*> gpus_;
  bool started_ = false;
};

// `load` with `factor` times the operations and bytes in every part.
Load scaled(const Load& load, double factor);

}  // namespace hypermile
