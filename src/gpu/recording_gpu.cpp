// SPDX-License-Identifier: Apache-2.0
#include "gpu/recording_gpu.h"

#include <type_traits>
#include <utility>

namespace hypermile {

Result<void> GpuCallRecord::verdict() const {
  return std::visit(
      [](const auto& held) -> Result<void> {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, ApplyOutcome>) {
          return all_applied(held);
        } else {
          if (!held) return held.error();
          return {};
        }
      },
      outcome);
}

RecordingGpu::RecordingGpu(std::unique_ptr<Gpu> inner, Clock& clock, Listener listener)
    : inner_(std::move(inner)), clock_(clock), listener_(std::move(listener)) {}

template <class Function>
auto RecordingGpu::record(GpuCall call, GpuCallRecord::Argument argument, Function function) {
  const Instant begin = clock_.now();
  auto outcome = function();
  const Instant end = clock_.now();
  listener_(GpuCallRecord{inner_->identity().uuid, call, std::move(argument), begin, end, outcome});
  return outcome;
}

Result<Sample> RecordingGpu::read(SensorSet wanted) {
  return record(GpuCall::kRead, wanted, [&] { return inner_->read(wanted); });
}

Result<std::vector<TimedPower>> RecordingGpu::power_history(Instant after) {
  return record(GpuCall::kPowerHistory, after, [&] { return inner_->power_history(after); });
}

Result<ActivityMetrics> RecordingGpu::activity() {
  return record(GpuCall::kActivity, {}, [&] { return inner_->activity(); });
}

Result<std::vector<GpuProcess>> RecordingGpu::processes() {
  return record(GpuCall::kProcesses, {}, [&] { return inner_->processes(); });
}

ApplyOutcome RecordingGpu::apply(const Setting& setting) {
  return record(GpuCall::kApply, setting, [&] { return inner_->apply(setting); });
}

Result<void> RecordingGpu::reset(Knob knob) {
  return record(GpuCall::kReset, knob, [&] { return inner_->reset(knob); });
}

}  // namespace hypermile
