// SPDX-License-Identifier: Apache-2.0
//
// The simplest Gpu, for tests of classes that wrap or drive one: it keeps its last Setting, draws
// 300 W, and counts energy by its clock.
#pragma once

#include "base/clock.h"
#include "gpu/gpu.h"
#include "gpu/knob_check.h"

namespace hypermile {

class FakeGpu : public Gpu {
 public:
  // `clock` must outlive this.
  explicit FakeGpu(const Clock& clock, std::string uuid = "GPU-fake") : clock_(clock) {
    identity_.uuid = GpuUuid(std::move(uuid));
    identity_.name = "Fake GPU";
    capabilities_.sm_clocks = {Mhz(1980), Mhz(1410), Mhz(345)};
    capabilities_.memory_clocks = {Mhz(3201)};
    capabilities_.power_limit_range = Range{Watts(200), Watts(700)};
    capabilities_.default_power_limit = Watts(700);
    capabilities_.may_set = true;
  }

  const GpuIdentity& identity() const override { return identity_; }
  const Capabilities& capabilities() const override { return capabilities_; }

  Result<Sample> read(SensorSet) override {
    Sample sample;
    sample.time = clock_.now();
    sample.power_instant = sample.power_average = Watts(300);
    sample.energy = Watts(300) * clock_.now().since_origin();
    sample.sm_clock = held.sm_clock.value_or(Mhz(1980));
    sample.memory_clock = held.memory_clock.value_or(Mhz(3201));
    sample.reasons = EventReasons{};
    sample.gpu_utilization = busy;
    sample.power_limit = held.power_limit.value_or(Watts(700));
    sample.requested_power_limit = sample.power_limit;
    return sample;
  }
  Result<std::vector<TimedPower>> power_history(Instant) override {
    return std::vector<TimedPower>{{clock_.now(), Watts(300)}};
  }
  Result<ActivityMetrics> activity() override {
    return Error{ErrorCode::kUnsupported, "a fake GPU has no activity metrics"};
  }
  Result<std::vector<GpuProcess>> processes() override { return std::vector<GpuProcess>{{42, {}}}; }

  ApplyOutcome apply(const Setting& setting) override {
    ApplyOutcome outcome;
    if (setting.sm_clock) {
      const auto clock = supported_clock("SM clock", *setting.sm_clock, capabilities_.sm_clocks);
      if (clock) held.sm_clock = *clock;
      outcome.push_back({Knob::kSmClock, clock ? Result<void>() : clock.error()});
    }
    if (setting.memory_clock) {
      held.memory_clock = setting.memory_clock;
      outcome.push_back({Knob::kMemoryClock, {}});
    }
    if (setting.power_limit && stuck_limit) {
      outcome.push_back({Knob::kPowerLimit, {}});
    } else if (setting.power_limit) {
      held.power_limit = setting.power_limit;
      outcome.push_back({Knob::kPowerLimit, {}});
    }
    return outcome;
  }
  Result<void> reset(Knob knob) override {
    if (deaf_resets > 0) {
      --deaf_resets;
      return {};
    }
    if (knob == Knob::kSmClock) held.sm_clock.reset();
    if (knob == Knob::kMemoryClock) held.memory_clock.reset();
    if (knob == Knob::kPowerLimit) held.power_limit.reset();
    return {};
  }

  Setting held;                // the last Setting it was given
  std::optional<double> busy;  // utilisation that it shows, 0 to 1
  int deaf_resets = 0;         // the next resets succeed and do nothing
  bool stuck_limit = false;    // setting a power limit succeeds and does nothing

 private:
  const Clock& clock_;
  GpuIdentity identity_;
  Capabilities capabilities_;
};

}  // namespace hypermile
