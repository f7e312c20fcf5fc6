// SPDX-License-Identifier: Apache-2.0
//
// The kernel launches of a job that is only simulated: what `simulate --realtime` leaves in a ring,
// as the injected library would from a real job, so that `hypermile run` can watch it. Nothing
// happens where nobody listens.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "inject/ring_writer.h"

namespace hypermile {

class SimulatedLaunches {
 public:
  // On GPU `device`; the job begins at `now`.
  SimulatedLaunches(std::uint32_t device, Instant now);
  ~SimulatedLaunches();
  SimulatedLaunches(const SimulatedLaunches&) = delete;
  SimulatedLaunches& operator=(const SimulatedLaunches&) = delete;

  // The job had come to `iterations` at `now`; since the last call it went evenly.
  void advance(Instant now, double iterations);

 private:
  void launch(std::uint64_t which, Instant time);

  std::unique_ptr<RingWriter> ring_;  // null where nobody listens
  std::uint32_t device_;
  std::vector<std::uint32_t> kernels_;  // of one iteration, in order
  std::uint64_t launched_ = 0;
  Instant begin_, last_, last_event_;
  double iterations_ = 0;
  std::uint32_t previous_ = kNoName;
};

}  // namespace hypermile
