// SPDX-License-Identifier: Apache-2.0
//
// The simulated machine of the NVML stand-in as one process sees it: GPUs in shared memory that
// advance in real time, multiplied by a speed. Every access brings a GPU up to date, so no server
// process is needed, and all processes see the same settings. Used by the exported NVML functions
// and by `hypermile simulate --realtime` and `--status`. Thread-safe.
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
  // Names of GPU sheets, and the speed. Absent values are taken from an existing machine, else they
  // are one rtx3080ti in real time. An existing machine that differs is replaced.
  std::vector<std::string> gpus = {};
  std::optional<double> speed = {};
};

// Reads HYPERMILE_SIM_STATE (else /dev/shm/hypermile-sim, or /tmp without /dev/shm),
// HYPERMILE_SIM_GPUS and HYPERMILE_SIM_SPEED; kUsage names the variable.
Result<MachineOptions> machine_options_from_environment();

// One GPU at one instant.
struct GpuView {
  GpuRecord record;
  SimView now;
  double time_s = 0;  // time of the machine
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
  const GpuConstants& constants(unsigned gpu) const { return state().cells[gpu].constants; }
  double speed() const { return state().speed; }
  const std::string& state_file() const { return state_file_; }
  // Simulated seconds since the machine was made.
  double now_s() const;
  // Converts a time on a GPU's own axis (see SimGpuState) to microseconds of the Unix epoch.
  std::uint64_t unix_us(const GpuRecord& record, double gpu_time_s) const;

  // Fails with kTimeout or kIo, as SharedRegion::lock does.
  Result<GpuView> look(unsigned gpu);

  // Requests a value for a knob; nullopt means the default. Blocks as long as the driver's call
  // would. The caller has checked the value. `note` records the client's request in the same
  // update.
  Result<void> request_knob(unsigned gpu, Knob knob, std::optional<double> value,
                            const std::function<void(GpuRecord&)>& note);
  Result<void> set_persistence(unsigned gpu, bool on);

  // Starts a job of the calling process. A GPU takes one job: kBusy names the process that has it.
  Result<void> start_job(unsigned gpu, const JobRequest& request);
  // Reports that the job's process is alive, due every few hundred milliseconds, and returns the
  // job's progress. kNotFound when the GPU has dropped the job after too long a silence.
  Result<GpuView> beat(unsigned gpu);
  Result<void> end_job(unsigned gpu);
  // Lets a job whose group is never complete run one more iteration: its process decides when.
  Result<void> allow_iteration(unsigned gpu);

 private:
  Machine(std::unique_ptr<SharedRegion> region, std::string state_file)
      : region_(std::move(region)), state_file_(std::move(state_file)) {}
  MachineState& state() const { return *static_cast<MachineState*>(region_->payload()); }
  // Brings the GPU to the present, applies `change`, and publishes both at once. The other ranks of
  // its job move along.
  template <class Change>
  Result<GpuView> update(unsigned gpu, Change change);
  // Prepares the writable copies of this GPU and of those that run other ranks of its job.
  std::vector<unsigned> copy_group(unsigned gpu);
  GpuRecord& next_record(unsigned gpu);

  std::unique_ptr<SharedRegion> region_;
  std::string state_file_;
};

}  // namespace hypermile
