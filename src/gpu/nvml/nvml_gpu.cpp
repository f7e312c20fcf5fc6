// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/nvml_gpu.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "gpu/knob_check.h"
#include "gpu/nvml/nvml_error.h"
#include "gpu/nvml/nvml_probe.h"
#include "gpu/nvml/nvml_processes.h"
#include "gpu/nvml/nvml_values.h"

namespace hypermile {
namespace {

constexpr Watts kLimitTolerance(1);

Watts ceiling_of(const Capabilities& can) {
  if (can.power_limit_range) return power_ceiling(can.power_limit_range->max);
  return power_ceiling(can.default_power_limit ? can.default_power_limit : can.current_power_limit);
}

unsigned whole(double value) {
  return static_cast<unsigned>(std::lround(value));
}

}  // namespace

NvmlGpu::NvmlGpu(std::shared_ptr<NvmlLibrary> library, nvml::Device device, GpuIdentity identity,
                 Clock& clock)
    : library_(std::move(library)),
      device_(device),
      identity_(std::move(identity)),
      capabilities_(probe_capabilities(*library_, device)),
      sensors_(*library_, device, clock, ceiling_of(capabilities_)),
      history_(*library_, device, clock, ceiling_of(capabilities_)),
      activity_(*library_, device, clock) {}

Result<ActivityMetrics> NvmlGpu::activity() {
  if (!capabilities_.activity_metrics) {
    return Error{ErrorCode::kUnsupported, "this GPU or driver has no activity metrics (GPM)",
                 "they need a Hopper or newer GPU and driver 520 or newer"};
  }
  return activity_.since_previous();
}

Result<std::vector<GpuProcess>> NvmlGpu::processes() {
  return read_compute_processes(*library_, device_);
}

ApplyOutcome NvmlGpu::apply(const Setting& setting) {
  ApplyOutcome outcome;
  if (setting.empty()) return outcome;
  const Result<void> allowed = check_barrier(read_barrier(*library_, device_));
  const auto attempt = [&](Knob knob, auto set) {
    outcome.push_back({knob, allowed ? set() : allowed});
  };
  if (setting.sm_clock) attempt(Knob::kSmClock, [&] { return set_sm_clock(*setting.sm_clock); });
  if (setting.memory_clock) {
    attempt(Knob::kMemoryClock, [&] { return set_memory_clock(*setting.memory_clock); });
  }
  if (setting.power_limit) {
    attempt(Knob::kPowerLimit, [&] { return set_power_limit(*setting.power_limit); });
  }
  return outcome;
}

// Allowed behind any barrier and for any value, because a reset must always be possible.
Result<void> NvmlGpu::reset(Knob knob) {
  switch (knob) {
    case Knob::kSmClock:
      return library_->setters().reset_sm_clock(device_);
    case Knob::kMemoryClock:
      return library_->setters().reset_memory_clock(device_);
    case Knob::kPowerLimit:
      break;
  }
  if (!capabilities_.default_power_limit) {
    return Error{ErrorCode::kUnsupported,
                 "the driver does not report this GPU's default power limit",
                 "set the limit by hand with nvidia-smi -pl"};
  }
  return set_power_limit(*capabilities_.default_power_limit);
}

// Sets a ceiling, not a fixed clock: the card can still idle and throttle below it.
Result<void> NvmlGpu::set_sm_clock(Mhz ceiling) {
  ASSIGN_OR_RETURN(const Mhz clock, supported_clock("SM clock", ceiling, capabilities_.sm_clocks));
  return library_->setters().lock_sm_clock(device_, whole(capabilities_.sm_clocks.back().value()),
                                           whole(clock.value()));
}

Result<void> NvmlGpu::set_memory_clock(Mhz wanted) {
  ASSIGN_OR_RETURN(const Mhz clock,
                   supported_clock("memory clock", wanted, capabilities_.memory_clocks));
  return library_->setters().lock_memory_clock(device_, whole(clock.value()), whole(clock.value()));
}

Result<void> NvmlGpu::set_power_limit(Watts limit) {
  RETURN_IF_ERROR(check_power_limit(limit, capabilities_.power_limit_range));
  RETURN_IF_ERROR(library_->setters().set_power_limit(device_, whole(limit.value() * 1000)));
  unsigned milliwatts = 0;
  if (nvml::call(library_->functions().power_limit, device_, &milliwatts) != nvml::kSuccess) {
    return {};  // the driver accepted the limit; failing to read it back is no error
  }
  const Watts now(milliwatts / 1000.0);
  if (std::abs((now - limit).value()) > kLimitTolerance.value()) {
    return Error{ErrorCode::kBusy,
                 fmt::format("the driver accepted a power limit of {:g} W but {:g} W is in force",
                             limit.value(), now.value()),
                 "another tool or the machine's management controller may hold it"};
  }
  return {};
}

}  // namespace hypermile
