// SPDX-License-Identifier: Apache-2.0
//
// A measured curve as a card (sim/replay_gpu.h) and the job that was measured on it: an endless
// process that ticks into a ring. For `evaluate --controller` and sweeps of measured curves.
#pragma once

#include <memory>

#include "base/result.h"
#include "sim/replay_gpu.h"
#include "trial/job_ring.h"
#include "trial/virtual_rig.h"

namespace hypermile {

class ReplayedTraining final : public VirtualJob {
 public:
  // Starts the job now. `clock` must outlive it. kIo where no ring can be made.
  static Result<std::unique_ptr<ReplayedTraining>> start(VirtualClock& clock, const Curve& curve,
                                                         const ReplayOptions& options);

  std::vector<Gpu*> cards() override { return {&gpu_}; }
  RingFolder& folder() override { return ring_->folder(); }
  // Ticks for the whole iterations since the last call, evenly between then and now.
  void play(Instant now) override;

  // Whole and part iterations, as of the last play().
  double iterations() const { return done_; }

 private:
  ReplayedTraining(VirtualClock& clock, const Curve& curve, const ReplayOptions& options)
      : gpu_(curve, clock, options), now_(clock.now()) {}

  ReplayGpu gpu_;
  std::unique_ptr<JobRing> ring_;
  double done_ = 0;
  Instant now_;
};

}  // namespace hypermile
