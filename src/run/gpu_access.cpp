// SPDX-License-Identifier: Apache-2.0
#include "run/gpu_access.h"

#include <fmt/format.h>

#include "base/environment_variable.h"
#include "gpu/gpu_name.h"
#include "gpu/nvml/nvml_open.h"
#include "gpu/visible_devices.h"
#include "sim/replay_gpu.h"
#include "sim/sim_gpu.h"
#include "sweep/curve.h"

namespace hypermile {
namespace {

// Without persistence mode the driver sleeps, and its first call takes seconds.
constexpr Seconds kListDeadline = Seconds(20);
constexpr const char* kDefaultWorkload = "resnet50";

Result<OpenedGpu> open_real(const GpuIdentity& identity, Clock& clock) {
  ASSIGN_OR_RETURN(auto gpu, open_gpu_with_deadlines(identity.uuid, clock, {}));
  return OpenedGpu{std::move(gpu), nullptr};
}

Result<OpenedGpu> open_replayed(const ReplayedGpu& name, Clock& clock, std::uint64_t seed) {
  ASSIGN_OR_RETURN(const SweepReference reference, parse_sweep_reference(name.file));
  ASSIGN_OR_RETURN(const SweepFile file, read_sweep(reference.path));
  const CurveSet set = make_curves(file, {.knobs = {}, .step = reference.step});
  ASSIGN_OR_RETURN(const Curve* curve, find_curve(set.curves, name.curve));
  ReplayOptions options;
  options.seed = seed;
  auto gpu = std::make_unique<ReplayGpu>(*curve, clock, options);
  ReplayGpu* job = gpu.get();
  return OpenedGpu{std::move(gpu), [job] { return job->iterations(); }};
}

// A job runs on it from the start, so that there is something to see.
Result<OpenedGpu> open_simulated(const SimulatedGpu& name, Clock& clock, std::uint64_t seed) {
  ASSIGN_OR_RETURN(GpuSheet sheet, load_gpu_sheet(name.model));
  ASSIGN_OR_RETURN(const Workload workload, load_workload(kDefaultWorkload));
  SimGpuOptions options;
  options.seed = seed;
  auto gpu = std::make_unique<SimGpu>(std::move(sheet), clock, options);
  gpu->start(workload);
  SimGpu* job = gpu.get();
  return OpenedGpu{std::move(gpu), [job] { return job->iterations(); }};
}

VisibleDevices visible_here(const GpuList& machine) {
  return visible_devices(environment_variable("CUDA_VISIBLE_DEVICES"),
                         environment_variable("CUDA_DEVICE_ORDER"), machine.gpus);
}

}  // namespace

Result<OpenedGpu> open_named_gpu(const std::string& name, Clock& clock, std::uint64_t seed) {
  ASSIGN_OR_RETURN(const GpuName parsed, parse_gpu_name(name));
  if (const auto* replayed = std::get_if<ReplayedGpu>(&parsed)) {
    return open_replayed(*replayed, clock, seed);
  }
  if (const auto* simulated = std::get_if<SimulatedGpu>(&parsed)) {
    return open_simulated(*simulated, clock, seed);
  }
  ASSIGN_OR_RETURN(const GpuList machine, list_gpus_within(kListDeadline));
  ASSIGN_OR_RETURN(const GpuIdentity identity, resolve_gpu(parsed, machine.gpus));
  return open_real(identity, clock);
}

Result<OpenedGpu> open_first_visible_gpu(Clock& clock) {
  ASSIGN_OR_RETURN(const GpuList machine, list_gpus_within(kListDeadline));
  const VisibleDevices visible = visible_here(machine);
  if (!visible.gpus.empty()) return open_real(visible.gpus.front(), clock);
  if (!visible.mig_instances.empty()) {
    return Error{
        ErrorCode::kUnsupported,
        fmt::format("CUDA_VISIBLE_DEVICES names a MIG instance, {}", visible.mig_instances.front()),
        "name the whole GPU with --gpu to watch it"};
  }
  return Error{
      ErrorCode::kNotFound,
      machine.gpus.empty() ? "the driver knows no GPU" : "CUDA_VISIBLE_DEVICES shows no GPU",
      "name one with --gpu, or use --gpu replay:FILE#gpu/workload"};
}

Result<OpenedGpu> open_visible_gpu(const std::optional<std::string>& visible,
                                   const std::optional<std::string>& order, unsigned device,
                                   Clock& clock) {
  ASSIGN_OR_RETURN(const GpuList machine, list_gpus_within(kListDeadline));
  const VisibleDevices seen = visible_devices(visible, order, machine.gpus);
  if (device < seen.gpus.size()) return open_real(seen.gpus[device], clock);
  return Error{ErrorCode::kNotFound,
               fmt::format("the job uses CUDA device {}, and NVML shows it {} GPUs", device,
                           seen.gpus.size()),
               "name the GPU with --gpu"};
}

Result<MachineGpus> open_all_gpus(Clock& clock) {
  ASSIGN_OR_RETURN(const GpuList machine, list_gpus_within(kListDeadline));
  MachineGpus all;
  if (!machine.gpus.empty()) all.driver_version = machine.gpus.front().driver_version;
  all.problems = machine.unreachable;
  for (const GpuIdentity& identity : machine.gpus) {
    Result<OpenedGpu> gpu = open_real(identity, clock);
    if (gpu) {
      all.gpus.push_back(std::move(gpu).value());
    } else {
      all.problems.push_back(gpu.error().in(identity.uuid.text()));
    }
  }
  const VisibleDevices visible = visible_here(machine);
  all.notes = visible.notes;
  if (visible.ambiguity) all.notes.push_back(*visible.ambiguity);
  return all;
}

}  // namespace hypermile
