// SPDX-License-Identifier: Apache-2.0
//
// The simulated machine of the NVML stand-in as one process sees it: GPUs in shared memory that
// move in real time, times a speed. Whoever looks at a GPU brings it up to date, so no process
// serves the others, and what one process sets another one reads. Used by the exported NVML
// functions and by `hypermile simulate --realtime` and `--status`. Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/advance.h"
#include "sim/stand_in/machine_state.h"
#include "sim/stand_in/shared_region.h"

namespace hypermile {

struct MachineOptions {
  std::string state_file = {};
  // Names of GPU sheets and the speed. What is not given is taken from a machine that is there, or
  // is one rtx3080ti in real time. A machine that differs from what is given is replaced.
  std::vector<std::string> gpus = {};
  std::optional<double> speed = {};
};

// From HYPERMILE_SIM_STATE (else /dev/shm/hypermile-sim, or /tmp where there is no /dev/shm),
// HYPERMILE_SIM_GPUS and HYPERMILE_SIM_SPEED; kUsage names the variable.
Result<MachineOptions> machine_options_from_environment();

// One GPU at one instant.
struct GpuView {
  GpuRecord record;
  SimView now;
  double time_s = 0;  // the machine's time
};

struct JobRequest {
  Load load;
  std::uint64_t memory_bytes = 0;
  // As in JobSlot.
  std::uint64_t group = 0;
  std::uint32_t ranks = 1;
  std::uint64_t iterations_before = 0;
};

class Machine {
 public:
  static Result<std::unique_ptr<Machine>> open(const MachineOptions& options);

  unsigned gpu_count() const { return state().gpu_count; }
  const GpuFacts& facts(unsigned gpu) const { return state().cells[gpu].facts; }
  const GpuPhysics& physics(unsigned gpu) const { return state().cells[gpu].physics; }
  double speed() const { return state().speed; }
  const std::string& state_file() const { return state_file_; }
  // In simulated seconds since the machine was made.
  double now_s() const;
  // An instant of a GPU's own axis (see SimGpuState) as microseconds of the Unix epoch.
  std::uint64_t unix_us(const GpuRecord& record, double gpu_time_s) const;

  // Fails with kTimeout or kIo, as SharedRegion::lock does.
  Result<GpuView> look(unsigned gpu);

  // Requests a knob; nullopt: the default. Blocks as long as the driver's call does. The value has
  // been checked. `note` records what the client asked for, in the same change.
  Result<void> request_knob(unsigned gpu, Knob knob, std::optional<double> value,
                            const std::function<void(GpuRecord&)>& note);
  Result<void> set_persistence(unsigned gpu, bool on);

  // A job of the calling process. One GPU takes one job: kBusy names the process that has it.
  Result<void> start_job(unsigned gpu, const JobRequest& request);
  // The sign of life, due every few hundred milliseconds, and how far the job has come. kNotFound
  // when the GPU gave it up because none came for too long.
  Result<GpuView> beat(unsigned gpu);
  Result<void> end_job(unsigned gpu);

 private:
  Machine(std::unique_ptr<SharedRegion> region, std::string state_file)
      : region_(std::move(region)), state_file_(std::move(state_file)) {}
  MachineState& state() const { return *static_cast<MachineState*>(region_->payload()); }
  // Brings the GPU to now, lets `change` work on it, and makes both visible at once. The other
  // ranks of its job come along.
  template <class Change>
  Result<GpuView> update(unsigned gpu, Change change);
  // The copies that may be changed, of this GPU and then of those that run ranks of its job.
  std::vector<unsigned> copy_group(unsigned gpu);
  GpuRecord& next_record(unsigned gpu);

  std::unique_ptr<SharedRegion> region_;
  std::string state_file_;
};

}  // namespace hypermile
