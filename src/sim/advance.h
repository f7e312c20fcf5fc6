// SPDX-License-Identifier: Apache-2.0
//
// Moves a simulated GPU through time. Free functions over plain structs, so that any process that
// maps a SimGpuState can bring it up to date; SimGpu wraps one as a Gpu.
//
// Times are seconds on the state's own axis, which begins at 0 when the state is made. Nothing here
// can fail: the caller has checked that the sheet allows a request.
#pragma once

#include <cstdint>

#include "base/units.h"
#include "sim/sim_state.h"

namespace hypermile {

// A finished stretch of the job, for observers that make ticks or launches of it: `count` whole
// iterations of `phase`, each `duration_s / count` long, or a single part when `count` is 0.
struct FinishedUnit {
  std::uint32_t phase = 0;
  std::uint32_t part = 0;       // valid when count is 0
  std::uint64_t iteration = 0;  // number of the first one, counted over all phases
  std::uint64_t count = 0;
  double start_s = 0;
  double duration_s = 0;
  double work = 1;  // operations and bytes of an iteration relative to the mean
};
class JobObserver {
 public:
  virtual ~JobObserver() = default;
  virtual void finished(const FinishedUnit& unit) = 0;
};

// A new card as its sheet describes it, idle, at ambient temperature. Equal seeds give equal cards.
SimGpuState make_sim_gpu(const GpuConstants& gpu, std::uint64_t seed, const Effects& effects = {});

// Processes all events up to `until`; does nothing if that lies in the past. `load` is the running
// job (null if none runs) and must stay the same until stop_job().
void advance(SimGpuState& state, const GpuConstants& gpu, const Load* load, Seconds until,
             JobObserver* observer = nullptr);

// Starts `load` now. The job ends after `iterations` training iterations; 0 means never. `barrier`
// is explained below.
void start_job(SimGpuState& state, const GpuConstants& gpu, const Load& load,
               std::uint64_t iterations = 0, std::uint64_t barrier = kNoBarrier);
void stop_job(SimGpuState& state, const GpuConstants& gpu);

// A job may be one rank of several, which ranks.h moves together. After `barrier` training
// iterations it waits, as in a collective's kernel, until its barrier is raised.
// advance_to_barrier() stops at `until`, or at the instant at which the wait begins if that lies
// between.
void advance_to_barrier(SimGpuState& state, const GpuConstants& gpu, const Load* load,
                        Seconds until, JobObserver* observer = nullptr);
void set_barrier(SimGpuState& state, const GpuConstants& gpu, const Load& load,
                 std::uint64_t barrier);

// Requests a value for a knob (nullopt: the default), which takes effect after a delay drawn from
// the sheet. Returns how long the call would block its caller. A later request replaces a pending
// one.
Seconds request(SimGpuState& state, const GpuConstants& gpu, Knob knob,
                std::optional<double> value);

// The state at now_s.
struct SimView {
  double iterations = 0;  // training iterations, with the fraction of the current one
  Totals totals;          // true values up to now
  Mhz sm_reported, sm_true, memory;
  Watts power;  // true
  Watts limit;
  Celsius die;
  std::uint64_t reasons = 0;  // as EventReasons
};
SimView view(const SimGpuState& state, const GpuConstants& gpu, const Load* load);

}  // namespace hypermile
