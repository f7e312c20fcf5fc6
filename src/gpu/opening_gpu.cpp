// SPDX-License-Identifier: Apache-2.0
#include "gpu/opening_gpu.h"

#include <utility>

namespace hypermile {

OpeningGpu::OpeningGpu(GpuIdentity identity, Opener opener)
    : identity_(std::move(identity)),
      opener_(std::move(opener)),
      opening_(std::async(std::launch::async, opener_)) {}

Result<DeadlineGpu*> OpeningGpu::opened() const {
  if (!gpu_) {
    ASSIGN_OR_RETURN(gpu_, opening_.valid() ? opening_.get() : opener_());
  }
  return gpu_.get();
}

const Capabilities& OpeningGpu::capabilities() const {
  static const Capabilities nothing;
  const auto gpu = opened();
  return gpu ? (*gpu)->capabilities() : nothing;
}

Result<Sample> OpeningGpu::read(SensorSet wanted) {
  ASSIGN_OR_RETURN(DeadlineGpu * gpu, opened());
  return gpu->read(wanted);
}

Result<std::vector<TimedPower>> OpeningGpu::power_history(Instant after) {
  ASSIGN_OR_RETURN(DeadlineGpu * gpu, opened());
  return gpu->power_history(after);
}

Result<ActivityMetrics> OpeningGpu::activity() {
  ASSIGN_OR_RETURN(DeadlineGpu * gpu, opened());
  return gpu->activity();
}

Result<std::vector<GpuProcess>> OpeningGpu::processes() {
  ASSIGN_OR_RETURN(DeadlineGpu * gpu, opened());
  return gpu->processes();
}

ApplyOutcome OpeningGpu::apply(const Setting& setting) {
  const auto gpu = opened();
  if (gpu) return (*gpu)->apply(setting);
  ApplyOutcome failed;
  for (const Knob knob : kAllKnobs) {
    if (setting.has(knob)) failed.push_back({knob, gpu.error()});
  }
  return failed;
}

Result<void> OpeningGpu::reset(Knob knob) {
  ASSIGN_OR_RETURN(DeadlineGpu * gpu, opened());
  return gpu->reset(knob);
}

}  // namespace hypermile
