// SPDX-License-Identifier: Apache-2.0
//
// Reads a card's sensors into a Sample. A failing sensor stays nullopt; only an unreachable GPU or
// driver is an error. Part of NvmlGpu; one thread at a time.
#pragma once

#include "base/clock.h"
#include "gpu/gpu.h"
#include "gpu/nvml/nvml_library.h"
#include "gpu/nvml/nvml_values.h"

namespace hypermile {

class NvmlSensors {
 public:
  // `library` and `clock` must outlive this.
  NvmlSensors(const NvmlLibrary& library, nvml::Device device, Clock& clock, Watts power_ceiling);

  Result<Sample> read(SensorSet wanted);

 private:
  // Each of these fills its part of the sample and returns NVML's code.
  nvml::Return read_power(SensorSet wanted, Sample& sample);
  nvml::Return read_energy(Sample& sample);
  nvml::Return read_clocks(Sample& sample);
  nvml::Return read_utilization(Sample& sample);
  nvml::Return read_temperature(Sample& sample);
  nvml::Return read_reasons(Sample& sample);
  nvml::Return read_limit(Sample& sample);

  const nvml::Functions& nvml_;
  nvml::Device device_;
  Clock& clock_;
  Watts ceiling_;
  EnergyCounter energy_;
};

}  // namespace hypermile
