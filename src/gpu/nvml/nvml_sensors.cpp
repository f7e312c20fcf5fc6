// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/nvml_sensors.h"

#include "gpu/nvml/nvml_error.h"

namespace hypermile {

NvmlSensors::NvmlSensors(const NvmlLibrary& library, nvml::Device device, Clock& clock,
                         Watts power_ceiling)
    : nvml_(library.functions()),
      device_(device),
      clock_(clock),
      ceiling_(power_ceiling),
      energy_(power_ceiling) {}

Result<Sample> NvmlSensors::read(SensorSet wanted) {
  Sample sample;
  sample.time = clock_.now();
  nvml::Return worst = nvml::kSuccess;
  const auto note = [&worst](nvml::Return code) {
    if (out_of_reach(code)) worst = code;
  };
  if (wanted.has(Sensor::kPowerInstant) || wanted.has(Sensor::kPowerAverage)) {
    note(read_power(wanted, sample));
  }
  if (wanted.has(Sensor::kClocks)) note(read_clocks(sample));
  if (wanted.has(Sensor::kUtilization)) note(read_utilization(sample));
  if (wanted.has(Sensor::kTemperature)) note(read_temperature(sample));
  if (wanted.has(Sensor::kEventReasons)) note(read_reasons(sample));
  if (wanted.has(Sensor::kPowerLimit)) note(read_limit(sample));
  // Energy comes last because it is the slowest, so the other readings are close to the sample's
  // time.
  if (wanted.has(Sensor::kEnergy)) note(read_energy(sample));
  if (worst != nvml::kSuccess) return nvml_error(worst, "read the sensors");
  return sample;
}

nvml::Return NvmlSensors::read_power(SensorSet wanted, Sample& sample) {
  // Only the wanted fields, because the driver queries the card once per field.
  nvml::FieldValue fields[2] = {};
  int count = 0;
  if (wanted.has(Sensor::kPowerInstant)) fields[count++].field_id = nvml::kFieldPowerInstant;
  if (wanted.has(Sensor::kPowerAverage)) fields[count++].field_id = nvml::kFieldPowerAverage;
  const nvml::Return code = nvml::call(nvml_.field_values, device_, count, fields);
  if (out_of_reach(code)) return code;
  for (int i = 0; code == nvml::kSuccess && i < count; ++i) {
    if (fields[i].status != nvml::kSuccess) continue;
    const bool instant = fields[i].field_id == nvml::kFieldPowerInstant;
    (instant ? sample.power_instant : sample.power_average) =
        power_of(number_of(fields[i].type, fields[i].value), ceiling_);
  }
  const bool missing = (wanted.has(Sensor::kPowerInstant) && !sample.power_instant) ||
                       (wanted.has(Sensor::kPowerAverage) && !sample.power_average);
  if (!missing) return nvml::kSuccess;

  // Drivers without these fields have one power reading, used for both. On some cards it is itself
  // a mean over one second.
  unsigned milliwatts = 0;
  const nvml::Return old = nvml::call(nvml_.power_usage, device_, &milliwatts);
  if (old != nvml::kSuccess) return old;
  const std::optional<Watts> power = power_of(milliwatts, ceiling_);
  if (wanted.has(Sensor::kPowerInstant) && !sample.power_instant) sample.power_instant = power;
  if (wanted.has(Sensor::kPowerAverage) && !sample.power_average) sample.power_average = power;
  return old;
}

nvml::Return NvmlSensors::read_energy(Sample& sample) {
  unsigned long long millijoules = 0;
  const nvml::Return code = nvml::call(nvml_.total_energy, device_, &millijoules);
  if (code == nvml::kSuccess) sample.energy = energy_.accept(millijoules, clock_.now());
  return code;
}

nvml::Return NvmlSensors::read_clocks(Sample& sample) {
  unsigned sm = 0;
  const nvml::Return sm_code = nvml::call(nvml_.clock, device_, nvml::kClockSm, &sm);
  if (sm_code == nvml::kSuccess) sample.sm_clock = clock_of(sm);
  unsigned memory = 0;
  const nvml::Return memory_code = nvml::call(nvml_.clock, device_, nvml::kClockMemory, &memory);
  if (memory_code == nvml::kSuccess) sample.memory_clock = clock_of(memory);
  return sm_code != nvml::kSuccess ? sm_code : memory_code;
}

nvml::Return NvmlSensors::read_utilization(Sample& sample) {
  nvml::Utilization utilization{};
  const nvml::Return code = nvml::call(nvml_.utilization, device_, &utilization);
  if (code == nvml::kSuccess) {
    sample.gpu_utilization = share_of_percent(utilization.gpu);
    sample.memory_utilization = share_of_percent(utilization.memory);
  }
  return code;
}

nvml::Return NvmlSensors::read_temperature(Sample& sample) {
  nvml::Temperature temperature{nvml::kTemperatureVersion1, nvml::kTemperatureGpu, 0};
  nvml::Return code = nvml::call(nvml_.temperature_v, device_, &temperature);
  if (code == nvml::kSuccess) {
    sample.temperature = temperature_of(temperature.celsius);
  } else if (!out_of_reach(code)) {
    unsigned celsius = 0;
    code = nvml::call(nvml_.temperature, device_, nvml::kTemperatureGpu, &celsius);
    if (code == nvml::kSuccess) sample.temperature = temperature_of(static_cast<int>(celsius));
  }
  return code;
}

nvml::Return NvmlSensors::read_reasons(Sample& sample) {
  unsigned long long bits = 0;
  const nvml::Return code = nvml::call(nvml_.event_reasons, device_, &bits);
  if (code == nvml::kSuccess && bits != nvml::kNotAvailable64) sample.reasons = EventReasons{bits};
  return code;
}

nvml::Return NvmlSensors::read_limit(Sample& sample) {
  unsigned milliwatts = 0;
  const nvml::Return code = nvml::call(nvml_.power_limit_enforced, device_, &milliwatts);
  if (code == nvml::kSuccess) sample.power_limit = power_of(milliwatts, ceiling_);
  if (nvml::call(nvml_.power_limit, device_, &milliwatts) == nvml::kSuccess) {
    sample.requested_power_limit = power_of(milliwatts, ceiling_);
  }
  return code;
}

}  // namespace hypermile
