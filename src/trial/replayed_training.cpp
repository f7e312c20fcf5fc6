// SPDX-License-Identifier: Apache-2.0
#include "trial/replayed_training.h"

#include <cmath>
#include <utility>

namespace hypermile {

Result<std::unique_ptr<ReplayedTraining>> ReplayedTraining::start(VirtualClock& clock,
                                                                  const Curve& curve,
                                                                  const ReplayOptions& options) {
  std::unique_ptr<ReplayedTraining> made(new ReplayedTraining(clock, curve, options));
  ASSIGN_OR_RETURN(made->ring_, JobRing::make(RingSource::kTicks, clock.now()));
  return made;
}

void ReplayedTraining::play(Instant now) {
  const double before = std::exchange(done_, gpu_.iterations());
  const Instant from = std::exchange(now_, now);
  const double first = std::floor(before) + 1;
  const auto whole = static_cast<int>(std::floor(done_) - std::floor(before));
  for (int i = 0; i < whole; ++i) {
    ring_->tick(from + (now - from) * ((first + i - before) / (done_ - before)));
  }
}

}  // namespace hypermile
