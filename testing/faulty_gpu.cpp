// SPDX-License-Identifier: Apache-2.0
#include "testing/faulty_gpu.h"

#include <algorithm>
#include <utility>

namespace hypermile {
namespace {

template <class Kind>
bool any_of_kind(const std::vector<const Fault*>& faults) {
  return std::any_of(faults.begin(), faults.end(),
                     [](const Fault* fault) { return std::holds_alternative<Kind>(*fault); });
}

}  // namespace

void Gate::open() {
  const std::lock_guard lock(mutex_);
  open_ = true;
  changed_.notify_all();
}

void Gate::pass() {
  std::unique_lock lock(mutex_);
  ++visitors_;
  changed_.notify_all();
  changed_.wait(lock, [this] { return open_; });
}

void Gate::await_visitors(int count) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return visitors_ >= count; });
}

FaultyGpu::FaultyGpu(std::unique_ptr<Gpu> inner, Clock& clock, std::vector<ScriptedFault> script)
    : inner_(std::move(inner)), clock_(clock), script_(std::move(script)) {}

FaultyGpu::Faults FaultyGpu::next(GpuCall call) {
  const int number = calls_[static_cast<std::size_t>(call)]++;
  Faults faults;
  for (const ScriptedFault& item : script_) {
    if (item.call == call && number >= item.first && number - item.first < item.times) {
      faults.push_back(&item.fault);
    }
  }
  return faults;
}

// Faults that act before the wrapped GPU is called.
Result<void> FaultyGpu::strike(const Faults& faults) {
  for (const Fault* fault : faults) {
    if (const auto* delays = std::get_if<fault::Delays>(fault)) clock_.sleep_for(delays->by);
    if (const auto* hangs = std::get_if<fault::Hangs>(fault)) hangs->gate->pass();
    if (std::holds_alternative<fault::LosesDevice>(*fault)) lost_ = true;
    if (const auto* fails = std::get_if<fault::Fails>(fault); fails && !lost_) return fails->error;
  }
  if (lost_) return Error{ErrorCode::kGpuLost, "the GPU has fallen off the bus", "reset it"};
  return {};
}

void FaultyGpu::stick(const fault::SticksReadings& stuck, Sample& sample) {
  if (!stuck_at_) stuck_at_ = sample;
  if (stuck.energy && sample.energy) sample.energy = stuck_at_->energy;
  if (stuck.power && sample.power_instant) sample.power_instant = stuck_at_->power_instant;
  if (stuck.power && sample.power_average) sample.power_average = stuck_at_->power_average;
}

void FaultyGpu::distort(const Faults& faults, Sample& sample) {
  for (const Fault* fault : faults) {
    if (const auto* shows = std::get_if<fault::ShowsSmClock>(fault)) {
      if (sample.sm_clock) sample.sm_clock = shows->clock;
    } else if (const auto* throttles = std::get_if<fault::Throttles>(fault)) {
      if (sample.sm_clock) sample.sm_clock = std::min(*sample.sm_clock, throttles->at_most);
      if (sample.reasons) sample.reasons->bits |= throttles->reasons.bits;
    } else if (const auto* stuck = std::get_if<fault::SticksReadings>(fault)) {
      stick(*stuck, sample);
    }
  }
}

Result<Sample> FaultyGpu::read(SensorSet wanted) {
  const Faults faults = next(GpuCall::kRead);
  RETURN_IF_ERROR(strike(faults));
  Result<Sample> sample = inner_->read(wanted);
  if (sample) distort(faults, *sample);
  return sample;
}

Result<std::vector<TimedPower>> FaultyGpu::power_history(Instant after) {
  RETURN_IF_ERROR(strike(next(GpuCall::kPowerHistory)));
  return inner_->power_history(after);
}

Result<ActivityMetrics> FaultyGpu::activity() {
  RETURN_IF_ERROR(strike(next(GpuCall::kActivity)));
  return inner_->activity();
}

Result<std::vector<GpuProcess>> FaultyGpu::processes() {
  RETURN_IF_ERROR(strike(next(GpuCall::kProcesses)));
  return inner_->processes();
}

ApplyOutcome FaultyGpu::apply(const Setting& setting) {
  const Faults faults = next(GpuCall::kApply);
  const Result<void> struck = strike(faults);
  if (struck && !any_of_kind<fault::IgnoresRequest>(faults)) return inner_->apply(setting);
  ApplyOutcome outcome;
  for (const Knob knob : kAllKnobs) {
    if (setting.has(knob)) outcome.push_back({knob, struck});
  }
  return outcome;
}

Result<void> FaultyGpu::reset(Knob knob) {
  const Faults faults = next(GpuCall::kReset);
  RETURN_IF_ERROR(strike(faults));
  if (any_of_kind<fault::IgnoresRequest>(faults)) return {};
  return inner_->reset(knob);
}

}  // namespace hypermile
