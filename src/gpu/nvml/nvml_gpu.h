// SPDX-License-Identifier: Apache-2.0
//
// A real card through NVML. open_gpu() (nvml_library.h) opens it; one thread at a time uses it.
// Only apply() and reset() change the card; they check as much as they can before calling NVML and
// fail with kReadOnly under HYPERMILE_READ_ONLY.
#pragma once

#include <memory>

#include "gpu/gpu.h"
#include "gpu/nvml/nvml_activity.h"
#include "gpu/nvml/nvml_library.h"
#include "gpu/nvml/nvml_power_history.h"
#include "gpu/nvml/nvml_sensors.h"

namespace hypermile {

class NvmlGpu final : public Gpu {
 public:
  // `clock` must outlive this.
  NvmlGpu(std::shared_ptr<NvmlLibrary> library, nvml::Device device, GpuIdentity identity,
          Clock& clock);

  const GpuIdentity& identity() const override { return identity_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<Sample> read(SensorSet wanted) override { return sensors_.read(wanted); }
  Result<std::vector<TimedPower>> power_history(Instant after) override {
    return history_.since(after);
  }
  Result<ActivityMetrics> activity() override;
  Result<std::vector<GpuProcess>> processes() override;
  ApplyOutcome apply(const Setting& setting) override;
  Result<void> reset(Knob knob) override;

 private:
  Result<void> set_sm_clock(Mhz ceiling);
  Result<void> set_memory_clock(Mhz clock);
  Result<void> set_power_limit(Watts limit);

  // Declared first, because the members below use it until they are destroyed.
  std::shared_ptr<NvmlLibrary> library_;
  nvml::Device device_;
  GpuIdentity identity_;
  Capabilities capabilities_;
  NvmlSensors sensors_;
  NvmlPowerHistory history_;
  NvmlActivity activity_;
};

}  // namespace hypermile
