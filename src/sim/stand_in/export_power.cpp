// SPDX-License-Identifier: Apache-2.0
//
// Exported functions about power, energy and limits, and the card's own buffer of samples. All show
// the card's registers, which change only at intervals.
#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/stand_in/nvml_more_abi.h"
#include "sim/stand_in/stand_in.h"

using namespace hypermile;
using namespace hypermile::stand_in;

namespace {

constexpr unsigned kSamplesMeanwhile = 50;  // one second's worth

unsigned milliwatts(double watts) {
  return static_cast<unsigned>(std::lround(std::max(watts, 0.0) * 1000));
}

unsigned instant_power(const GpuView& view) {
  return milliwatts(view.record.sim.sensors.shown_power_w);
}

std::optional<unsigned> average_power(const GpuView& view) {
  const auto& shown = view.record.sim.sensors.shown_average_w;
  return shown ? std::optional(milliwatts(*shown)) : std::nullopt;
}

unsigned long long energy_mj(const GpuView& view) {
  const double joules = view.record.sim.sensors.shown_energy_j + view.record.slept_j;
  return static_cast<unsigned long long>(std::llround(std::max(joules, 0.0) * 1000));
}

unsigned requested_limit(const GpuView& view, const GpuConstants& constants) {
  return milliwatts(view.record.sim.requested.power_limit.value_or(constants.limit.normal).value());
}

nvml::Return set_limit(const char* function, nvml::Device device, unsigned wanted) {
  return set_on(function, device, [&](Machine& here, unsigned gpu) -> nvml::Return {
    const LimitRange& range = here.constants(gpu).limit;
    if (wanted < milliwatts(range.min.value()) || wanted > milliwatts(range.max.value())) {
      return nvml::kInvalidArgument;
    }
    // The driver has no reset for limits; requesting the default resets it.
    const bool normal = wanted == milliwatts(range.normal.value());
    const auto value = normal ? std::nullopt : std::optional(wanted / 1000.0);
    const Result<void> done = here.request_knob(gpu, Knob::kPowerLimit, value, [](GpuRecord&) {});
    return done ? nvml::kSuccess : code_of(done.error());
  });
}

void fill_field(const GpuView& view, nvml::FieldValue& field) {
  constexpr unsigned kScopeGpu = 0;
  field.latency_us = 0;
  field.status = nvml::kSuccess;
  field.type = nvml::kUnsignedInt;
  field.value = {};
  const bool of_gpu = field.scope_id == kScopeGpu;
  if (field.field_id == nvml::kFieldPowerInstant && of_gpu) {
    field.value.as_unsigned = instant_power(view);
  } else if (field.field_id == nvml::kFieldPowerAverage && of_gpu && average_power(view)) {
    field.value.as_unsigned = *average_power(view);
  } else if (field.field_id == nvml::kFieldTotalEnergy) {
    field.type = nvml::kUnsignedLongLong;
    field.value.as_unsigned_long_long = energy_mj(view);
  } else {
    field.status = nvml::kNotSupported;
  }
}

std::vector<nvml::PowerSample> samples_after(const GpuView& view, const Machine& here,
                                             unsigned long long after_us) {
  const SensorState& sensors = view.record.sim.sensors;
  const std::uint64_t count = std::min<std::uint64_t>(sensors.history_count, kHistorySize);
  std::vector<nvml::PowerSample> samples;
  for (std::uint64_t i = sensors.history_count - count; i < sensors.history_count; ++i) {
    const HistoryEntry& entry = sensors.history[i % kHistorySize];
    nvml::PowerSample sample{};
    sample.timestamp_us = here.unix_us(view.record, entry.time_s);
    sample.value.as_unsigned = milliwatts(static_cast<double>(entry.power_w));
    if (sample.timestamp_us > after_us) samples.push_back(sample);
  }
  return samples;
}

}  // namespace

// The driver returns the averaged register where the card has one.
NVML_EXPORT nvml::Return nvmlDeviceGetPowerUsage(nvml::Device device, unsigned* out) {
  return look_at(__func__, device, [&](const GpuView& view, Machine&, unsigned) {
    return give(out, average_power(view).value_or(instant_power(view)));
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetTotalEnergyConsumption(nvml::Device device,
                                                             unsigned long long* out) {
  return look_at(__func__, device, [&](const GpuView& view, Machine&, unsigned) {
    return give(out, energy_mj(view));
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetFieldValues(nvml::Device device, int count,
                                                  nvml::FieldValue* values) {
  return look_at(__func__, device,
                 [&](const GpuView& view, Machine& here, unsigned) -> nvml::Return {
                   if (count <= 0 || values == nullptr) return nvml::kInvalidArgument;
                   const auto now = here.unix_us(view.record, view.record.sim.now_s);
                   for (int i = 0; i < count; ++i) {
                     fill_field(view, values[i]);
                     values[i].timestamp_us = static_cast<long long>(now);
                   }
                   return nvml::kSuccess;
                 });
}

NVML_EXPORT nvml::Return nvmlDeviceGetSamples(nvml::Device device, int type,
                                              unsigned long long after_us,
                                              nvml::ValueType* value_type, unsigned* count,
                                              nvml::PowerSample* out) {
  return look_at(
      __func__, device, [&](const GpuView& view, Machine& here, unsigned gpu) -> nvml::Return {
        if (value_type == nullptr || count == nullptr) return nvml::kInvalidArgument;
        const bool has_buffer = here.constants(gpu).sensors.history_period > Seconds(0);
        if (type != nvml::kTotalPowerSamples || !has_buffer) return nvml::kNotSupported;
        *value_type = nvml::kUnsignedInt;
        const std::vector<nvml::PowerSample> samples = samples_after(view, here, after_us);
        if (samples.empty()) return nvml::kNotFound;
        if (out == nullptr) {
          // Leaves room for samples that arrive before the second call, as the driver does.
          *count = static_cast<unsigned>(samples.size()) + kSamplesMeanwhile;
          return nvml::kSuccess;
        }
        return give_list(samples, count, out);
      });
}

NVML_EXPORT nvml::Return nvmlDeviceGetPowerManagementMode(nvml::Device device, unsigned* out) {
  return on_gpu(__func__, device, [&](Machine&, unsigned) { return give(out, 1U); });
}

NVML_EXPORT nvml::Return nvmlDeviceGetPowerManagementLimit(nvml::Device device, unsigned* out) {
  return look_at(__func__, device, [&](const GpuView& view, Machine& here, unsigned gpu) {
    return give(out, requested_limit(view, here.constants(gpu)));
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetEnforcedPowerLimit(nvml::Device device, unsigned* out) {
  return look_at(__func__, device, [&](const GpuView& view, Machine&, unsigned) {
    return give(out, milliwatts(view.now.limit.value()));
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetPowerManagementDefaultLimit(nvml::Device device,
                                                                  unsigned* out) {
  return on_gpu(__func__, device, [&](Machine& here, unsigned gpu) {
    return give(out, milliwatts(here.constants(gpu).limit.normal.value()));
  });
}

NVML_EXPORT nvml::Return nvmlDeviceGetPowerManagementLimitConstraints(nvml::Device device,
                                                                      unsigned* low,
                                                                      unsigned* high) {
  return on_gpu(__func__, device, [&](Machine& here, unsigned gpu) -> nvml::Return {
    if (low == nullptr) return nvml::kInvalidArgument;
    *low = milliwatts(here.constants(gpu).limit.min.value());
    return give(high, milliwatts(here.constants(gpu).limit.max.value()));
  });
}

NVML_EXPORT nvml::Return nvmlDeviceSetPowerManagementLimit(nvml::Device device, unsigned wanted) {
  return set_limit(__func__, device, wanted);
}

NVML_EXPORT nvml::Return nvmlDeviceSetPowerManagementLimit_v2(nvml::Device device,
                                                              const nvml::PowerValue2* wanted) {
  if (wanted == nullptr) return nvml::kInvalidArgument;
  if (wanted->version != nvml::kPowerValueVersion2) return nvml::kArgumentVersionMismatch;
  if (wanted->scope != 0) return nvml::kNotSupported;
  return set_limit(__func__, device, wanted->milliwatts);
}
