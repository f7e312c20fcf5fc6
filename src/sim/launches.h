// SPDX-License-Identifier: Apache-2.0
//
// The kernel launches of a simulated job as a library in the training process would see them: on
// the host's clock. A host launches an iteration's kernels one after the other, microseconds apart,
// as soon as the GPU has begun the iteration (it has waited for the loss of the one before), and is
// done long before the GPU is, unless launching is what takes the time. It stands still where it
// waits for data. Only for those who ask; the simulator itself never makes them.
#pragma once

#include <cstdint>

#include "sim/advance.h"
#include "sim/load.h"
#include "sim/sim_random.h"

namespace hypermile {

class LaunchSink {
 public:
  virtual ~LaunchSink() = default;
  // In order of time. `gpu_s` is when the GPU came to it, as an event recorded there would tell.
  virtual void launch(double time_s, double gpu_s, std::uint32_t kernel) = 0;
};

class LaunchEmitter {
 public:
  // `load` must outlive it.
  explicit LaunchEmitter(const Load& load, std::uint64_t seed = 1) : load_(load), random_{seed} {}

  // Of a stretch that is over; stretches in order.
  void emit(const FinishedUnit& unit, LaunchSink& sink);
  // The same of one whose launches nobody wants: the next begins when its iteration does.
  void skip(const FinishedUnit& unit);

 private:
  void begin_iteration(double start_s);
  void emit_part(const PartWork& part, double start_s, double duration_s, LaunchSink& sink);
  void emit_iteration(const PhaseWork& phase, double start_s, double duration_s, LaunchSink& sink);

  const Load& load_;
  SimRandom random_;
  bool begun_ = false;
  std::uint64_t iteration_ = 0;
  double host_s_ = 0;  // where the host has come to
};

}  // namespace hypermile
