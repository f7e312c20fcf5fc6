// SPDX-License-Identifier: Apache-2.0
//
// Tells a listener about every call made on a Gpu and what came of it, so that a run can be
// audited: who asked for which clock, when, and whether it was given back.
#pragma once

#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "gpu/gpu.h"
#include "gpu/gpu_call.h"

namespace hypermile {

struct GpuCallRecord {
  using Argument = std::variant<std::monostate, SensorSet, Instant, Setting, Knob>;
  using Outcome =
      std::variant<Result<Sample>, Result<std::vector<TimedPower>>, Result<ActivityMetrics>,
                   Result<std::vector<GpuProcess>>, ApplyOutcome, Result<void>>;

  GpuUuid gpu;
  GpuCall call = GpuCall::kRead;
  Argument argument;
  Instant begin;
  Instant end;
  Outcome outcome;

  // Success, or the (first) error of the outcome.
  Result<void> verdict() const;
};

class RecordingGpu final : public Gpu {
 public:
  // Called after each call has returned, on the caller's thread.
  using Listener = std::function<void(const GpuCallRecord&)>;

  // `clock` must outlive this.
  RecordingGpu(std::unique_ptr<Gpu> inner, Clock& clock, Listener listener);

  const GpuIdentity& identity() const override { return inner_->identity(); }
  const Capabilities& capabilities() const override { return inner_->capabilities(); }
  Result<Sample> read(SensorSet wanted) override;
  Result<std::vector<TimedPower>> power_history(Instant after) override;
  Result<ActivityMetrics> activity() override;
  Result<std::vector<GpuProcess>> processes() override;
  ApplyOutcome apply(const Setting& setting) override;
  Result<void> reset(Knob knob) override;

 private:
  template <class Function>
  auto record(GpuCall call, GpuCallRecord::Argument argument, Function function);

  std::unique_ptr<Gpu> inner_;
  Clock& clock_;
  Listener listener_;
};

}  // namespace hypermile
