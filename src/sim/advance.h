// SPDX-License-Identifier: Apache-2.0
//
// Moves a simulated GPU through time. Free functions over plain structs, so that any process that
// maps a SimGpuState can bring it up to date; SimGpu wraps one as a Gpu.
//
// Times are seconds on the state's own axis, which begins at 0 when it is made. None of these
// functions can fail; the caller has checked that a request is one the sheet allows.
#pragma once

#include <cstdint>

#include "base/units.h"
#include "sim/sim_state.h"

namespace hypermile {

// One stretch of the job that is over, for whoever wants ticks or launches. `count` whole
// iterations of `phase` that took `duration / count` each; or one part, then count is 0.
struct FinishedUnit {
  std::uint32_t phase = 0;
  std::uint32_t part = 0;       // meaningful when count is 0
  std::uint64_t iteration = 0;  // of all phases together, the first one's number
  std::uint64_t count = 0;
  double start_s = 0;
  double duration_s = 0;
};
class JobObserver {
 public:
  virtual ~JobObserver() = default;
  virtual void finished(const FinishedUnit& unit) = 0;
};

// A card fresh from its sheet, idle, at ambient temperature; equal seeds give equal cards.
SimGpuState make_sim_gpu(const GpuPhysics& gpu, std::uint64_t seed, const Effects& effects = {});

// Processes everything that happens up to `until`; earlier than now does nothing. `load` is what
// the running job does (may be null while none runs) and must be the same until stop_job().
void advance(SimGpuState& state, const GpuPhysics& gpu, const Load* load, Seconds until,
             JobObserver* observer = nullptr);

// Starts `load` now; the job ends by itself after `iterations` training iterations (0: never).
// `barrier`: see below.
void start_job(SimGpuState& state, const GpuPhysics& gpu, const Load& load,
               std::uint64_t iterations = 0, std::uint64_t barrier = kNoBarrier);
void stop_job(SimGpuState& state, const GpuPhysics& gpu);

// For a job that is one rank of several (ranks.h moves them together): it waits, as a collective's
// kernel does, once it has finished `barrier` training iterations, until it may finish more.
// advance_to_barrier() goes to `until` or to the instant at which the wait begins, if that is first
// and not behind it already.
void advance_to_barrier(SimGpuState& state, const GpuPhysics& gpu, const Load* load, Seconds until,
                        JobObserver* observer = nullptr);
void set_barrier(SimGpuState& state, const GpuPhysics& gpu, const Load& load,
                 std::uint64_t barrier);

// Asks for a knob (nullopt: the default); it acts after a delay drawn from the sheet. Returns how
// long the call would block its caller. A later request replaces one that does not act yet.
Seconds request(SimGpuState& state, const GpuPhysics& gpu, Knob knob, std::optional<double> value);

// The state between events, as of now_s.
struct SimView {
  double iterations = 0;  // training iterations, whole and part
  Totals totals;          // up to now, true values
  Mhz sm_reported, sm_true, memory;
  Watts power;  // true
  Watts limit;
  Celsius die;
  std::uint64_t reasons = 0;  // as EventReasons
};
SimView view(const SimGpuState& state, const GpuPhysics& gpu, const Load* load);

}  // namespace hypermile
