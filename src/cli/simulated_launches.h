// SPDX-License-Identifier: Apache-2.0
//
// The kernel launches that `simulate --realtime` writes to a ring, as the injected library does in
// a real job, so that `hypermile run` can watch it. Without HYPERMILE_RING_DIR nothing is written.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "inject/ring_writer.h"

namespace hypermile {

class SimulatedLaunches {
 public:
  // The job begins at `now` on GPU `device`.
  SimulatedLaunches(std::uint32_t device, Instant now);
  ~SimulatedLaunches();
  SimulatedLaunches(const SimulatedLaunches&) = delete;
  SimulatedLaunches& operator=(const SimulatedLaunches&) = delete;

  // The job has come to `iterations` at `now`. Its launches since the last call are spread evenly.
  void advance(Instant now, double iterations);

 private:
  void launch(std::uint64_t which, Instant time);

  std::unique_ptr<RingWriter> ring_;  // null without HYPERMILE_RING_DIR
  std::uint32_t device_;
  std::vector<std::uint32_t> kernels_;  // ring's ids of the kernels of one iteration, in order
  std::uint64_t launched_ = 0;
  Instant begin_, last_, last_event_;
  double iterations_ = 0;
  std::uint32_t previous_ = kNoName;
};

}  // namespace hypermile
