// SPDX-License-Identifier: Apache-2.0
//
// The kernel launches of a simulated job as a library in the training process would see them, on
// the host's clock. A host launches the kernels of an iteration microseconds apart, as soon as the
// GPU has begun the iteration (it has waited for the previous loss). It is done long before the
// GPU, unless launching itself is the bottleneck, and pauses where it waits for data. A host with
// Load::dispatch_ahead launches whole iterations ahead and then waits. Made only on request; the
// simulator itself needs no launches. Cannot fail.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "sim/advance.h"
#include "sim/load.h"
#include "sim/sim_random.h"

namespace hypermile {

struct SimLaunch {
  double time_s = 0;  // of the host's call
  // When the GPU reaches the kernel, as a recorded event would show; absent where the host is
  // ahead.
  std::optional<double> gpu_s = {};
  std::uint32_t kernel = 0;
  std::uint64_t blocks = 0;  // of its grid; 0 for a whole graph
};

class LaunchSink {
 public:
  virtual ~LaunchSink() = default;
  // In order of time.
  virtual void launch(const SimLaunch& launch) = 0;
  // The GPU has reached the oldest launch that came without its `gpu_s`.
  virtual void reached(double gpu_s) = 0;
};

class LaunchEmitter {
 public:
  // `load` must outlive this.
  explicit LaunchEmitter(const Load& load, std::uint64_t seed = 1) : load_(load), random_{seed} {}

  // Emits the launches of a finished stretch; stretches come in order.
  void emit(const FinishedUnit& unit, LaunchSink& sink);
  // Skips a stretch without emitting; the next one begins with its iteration. Not for a host that
  // launches ahead.
  void skip(const FinishedUnit& unit);

 private:
  void begin_iteration(double start_s);
  void emit_part(const PartWork& part, const FinishedUnit& within, LaunchSink& sink);
  void emit_iteration(const PhaseWork& phase, const FinishedUnit& within, LaunchSink& sink);
  void emit_ahead(const FinishedUnit& unit, LaunchSink& sink);
  void schedule_round(double start_s, double work);
  void let_go(double until_s, LaunchSink& sink);
  void reach(const PartWork& part, double start_s, double duration_s, LaunchSink& sink);
  double pause(double pace);

  const Load& load_;
  SimRandom random_;
  bool begun_ = false;
  std::uint64_t iteration_ = 0;
  double host_s_ = 0;  // host time of the newest launch
  // Of a host that launches ahead: training iterations since its last round of launches, and
  // launches whose time has not come.
  std::uint32_t since_round_ = 0;
  std::deque<SimLaunch> scheduled_;
  std::uint64_t ahead_ = 0;  // launches let go that the GPU has not reached
};

}  // namespace hypermile
