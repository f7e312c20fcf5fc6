// SPDX-License-Identifier: Apache-2.0
//
// The kernel launches of a simulated job as a library in the training process would see them, on
// the host's clock. A host launches the kernels of an iteration microseconds apart, as soon as the
// GPU has begun the iteration (it has waited for the previous loss). It is done long before the
// GPU, unless launching itself is the bottleneck, and pauses where it waits for data. Made only on
// request; the simulator itself needs no launches. Cannot fail.
#pragma once

#include <cstdint>

#include "sim/advance.h"
#include "sim/load.h"
#include "sim/sim_random.h"

namespace hypermile {

class LaunchSink {
 public:
  virtual ~LaunchSink() = default;
  // In order of time. `gpu_s` is when the GPU reached the kernel, as a recorded event would show.
  virtual void launch(double time_s, double gpu_s, std::uint32_t kernel) = 0;
};

class LaunchEmitter {
 public:
  // `load` must outlive this.
  explicit LaunchEmitter(const Load& load, std::uint64_t seed = 1) : load_(load), random_{seed} {}

  // Emits the launches of a finished stretch; stretches come in order.
  void emit(const FinishedUnit& unit, LaunchSink& sink);
  // Skips a stretch without emitting; the next one begins with its iteration.
  void skip(const FinishedUnit& unit);

 private:
  void begin_iteration(double start_s);
  void emit_part(const PartWork& part, double start_s, double duration_s, LaunchSink& sink);
  void emit_iteration(const PhaseWork& phase, double start_s, double duration_s, LaunchSink& sink);

  const Load& load_;
  SimRandom random_;
  bool begun_ = false;
  std::uint64_t iteration_ = 0;
  double host_s_ = 0;  // host time of the newest launch
};

}  // namespace hypermile
