// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_ranks.h"

namespace hypermile {

SimRanks::~SimRanks() {
  if (!started_) return;
  for (SimGpu* gpu : gpus_) gpu->stop();
}

void SimRanks::start(const Workload& workload, std::uint64_t iterations,
                     const std::vector<double>& work) {
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    const double factor = i < work.size() ? work[i] : 1;
    gpus_[i]->start_rank(*this, scaled(workload.load, factor), iterations);
  }
  started_ = true;
}

void SimRanks::advance(Instant now) {
  std::vector<SimRank> ranks;
  ranks.reserve(gpus_.size());
  for (SimGpu* gpu : gpus_) ranks.push_back(gpu->as_rank());
  // Common time is that of the first card, so cards made at one instant need no conversion.
  const double origin = ranks.front().offset_s;
  for (SimRank& rank : ranks) rank.offset_s -= origin;
  advance_together(ranks, started_, now - Instant() - Seconds(origin));
}

Load scaled(const Load& load, double factor) {
  Load result = load;
  for (PhaseWork& phase : result.phases) {
    for (PartWork& part : phase.parts) {
      for (double& flops : part.flops) flops *= factor;
      part.bytes *= factor;
    }
  }
  return result;
}

}  // namespace hypermile
