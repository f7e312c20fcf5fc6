// SPDX-License-Identifier: Apache-2.0
//
// The kernel launches of a job of `simulate --realtime`, written to a ring as the injected library
// does in a real job, so that `hypermile run` can watch it. They are the workload's own. Without
// HYPERMILE_RING_DIR nothing is written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "inject/ring_writer.h"
#include "sim/stand_in/machine.h"
#include "trial/launch_player.h"

namespace hypermile {

class SimulatedLaunches {
 public:
  // A job of `load` will begin on the GPU `device` of the machine; it is `now`. `load` must outlive
  // it.
  SimulatedLaunches(const Machine& machine, std::uint32_t device, const Load& load, Instant now);
  ~SimulatedLaunches();
  SimulatedLaunches(const SimulatedLaunches&) = delete;
  SimulatedLaunches& operator=(const SimulatedLaunches&) = delete;

  // Called when the job begins, so that the work of earlier jobs on the GPU is not written.
  void begin(const GpuView& view) { seen_ = view.record.finished.count; }
  // Writes what the job did since the last call. Stretches that the GPU no longer keeps are
  // missing.
  void advance(const GpuView& view);
  // A simulated time after which the GPU may have forgotten stretches that advance() has not seen.
  static Seconds kept();

 private:
  std::unique_ptr<RingWriter> ring_;  // null without HYPERMILE_RING_DIR
  std::optional<LaunchPlayer> player_;
  Instant origin_;  // of the machine's time
  double speed_ = 1;
  std::uint64_t seen_ = 0;  // stretches of the GPU's jobs
};

}  // namespace hypermile
