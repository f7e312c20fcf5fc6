// SPDX-License-Identifier: Apache-2.0
//
// A Gpu that fails on purpose: it wraps another Gpu and makes chosen calls fail, stall, hang or lie
// as real cards do. For tests, and to rehearse a run under faults (simulate).
#pragma once

#include <array>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "gpu/gpu.h"
#include "gpu/gpu_call.h"

namespace hypermile {

// A hanging call waits here until the gate is opened. Several threads may use it.
class Gate {
 public:
  void open();
  void pass();                     // blocks until open
  void await_visitors(int count);  // blocks until `count` threads have come to pass()

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int visitors_ = 0;
};

namespace fault {
struct Fails {
  Error error;
};
struct Delays {  // time passes on the clock
  Seconds by;
};
struct Hangs {
  std::shared_ptr<Gate> gate;
};
struct LosesDevice {};     // this call and all later ones fail with kGpuLost
struct IgnoresRequest {};  // apply and reset report success and do nothing
struct ShowsSmClock {      // read shows this clock, whatever was requested
  Mhz clock;
};
struct Throttles {  // read shows these reasons and at most this clock
  EventReasons reasons;
  Mhz at_most;
};
struct SticksReadings {  // read repeats its first values
  bool energy = true;
  bool power = true;
};
}  // namespace fault

using Fault = std::variant<fault::Fails, fault::Delays, fault::Hangs, fault::LosesDevice,
                           fault::IgnoresRequest, fault::ShowsSmClock, fault::Throttles,
                           fault::SticksReadings>;

// `fault` affects calls number `first` (from 0) to `first + times - 1` of this kind.
struct ScriptedFault {
  GpuCall call = GpuCall::kRead;
  Fault fault;
  int first = 0;
  int times = std::numeric_limits<int>::max();
};

class FaultyGpu final : public Gpu {
 public:
  // `clock` must outlive this. Faults that affect the same call apply in the order of the script.
  FaultyGpu(std::unique_ptr<Gpu> inner, Clock& clock, std::vector<ScriptedFault> script);

  const GpuIdentity& identity() const override { return inner_->identity(); }
  const Capabilities& capabilities() const override { return inner_->capabilities(); }
  Result<Sample> read(SensorSet wanted) override;
  Result<std::vector<TimedPower>> power_history(Instant after) override;
  Result<ActivityMetrics> activity() override;
  Result<std::vector<GpuProcess>> processes() override;
  ApplyOutcome apply(const Setting& setting) override;
  Result<void> reset(Knob knob) override;

 private:
  using Faults = std::vector<const Fault*>;
  Faults next(GpuCall call);
  Result<void> strike(const Faults& faults);
  void distort(const Faults& faults, Sample& sample);
  void stick(const fault::SticksReadings& stuck, Sample& sample);

  std::unique_ptr<Gpu> inner_;
  Clock& clock_;
  std::vector<ScriptedFault> script_;
  std::array<int, kGpuCallKinds> calls_{};
  bool lost_ = false;
  std::optional<Sample> stuck_at_;
};

}  // namespace hypermile
