// SPDX-License-Identifier: Apache-2.0
//
// Measured silicon as a Gpu: a curve of a published sweep becomes a card under one endless job. A
// Setting has the time and power that were measured there; an unmeasured Setting is refused like an
// unsupported clock. What a table lacks is added from a seed: noise of time and power, slow drift,
// the delay until a request takes effect, and sensors that change every 100 ms.
//
// All time comes from the injected Clock. State is updated lazily by each call, so equal seeds and
// calls give equal results. One thread.
#pragma once

#include <cstdint>
#include <deque>

#include "base/clock.h"
#include "base/random.h"
#include "gpu/gpu.h"
#include "sweep/curve.h"

namespace hypermile {

struct ReplayOptions {
  // Relative standard deviation of the mean over 30 iterations.
  double time_noise = 0.01;
  double power_noise = 0.01;
  // Relative amplitude and period of a slow swing of the time per iteration.
  double drift = 0;
  Seconds drift_period = Seconds(600);
  // A request takes effect after a delay drawn uniformly from this range.
  Seconds latency_min = milliseconds(10);
  Seconds latency_max = milliseconds(100);
  // Periods of the power and energy sensors and of the card's own power buffer.
  Seconds sensor_period = milliseconds(100);
  Seconds history_period = milliseconds(20);
  // Time of one iteration at the default. Sweeps time whole epochs or single kernels, of which only
  // the ratios matter; absent: the time in the sweep.
  std::optional<Seconds> iteration = {};
  std::uint64_t seed = 1;
};

class ReplayGpu final : public Gpu {
 public:
  ReplayGpu(Curve curve, Clock& clock, const ReplayOptions& options);

  // Iterations since the start, with the fraction of the current one.
  double iterations();

  const GpuIdentity& identity() const override { return identity_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<Sample> read(SensorSet wanted) override;
  Result<std::vector<TimedPower>> power_history(Instant after) override;
  Result<ActivityMetrics> activity() override;
  Result<std::vector<GpuProcess>> processes() override;
  ApplyOutcome apply(const Setting& setting) override;
  // Always succeeds. Resetting one knob may leave a combination that was not measured; the card
  // then runs at its default, which is faster.
  Result<void> reset(Knob knob) override;

 private:
  void advance();                    // to the clock's current time
  void advance_segment(Instant to);  // one segment has one draw of noise
  void request(const Setting& setting);
  const CurvePoint& point_in_force() const;
  Error unsupported(const Setting& setting) const;

  Curve curve_;
  Clock& clock_;
  ReplayOptions options_;
  Random random_;
  double time_scale_;
  double drift_phase_;
  GpuIdentity identity_;
  Capabilities capabilities_;

  Setting requested_;
  Setting in_force_;
  std::optional<Instant> change_at_;  // when requested_ takes effect

  Instant start_;
  Instant now_;
  Instant segment_end_;
  double time_factor_ = 1;  // noise of the current segment
  double power_factor_ = 1;
  double iterations_ = 0;
  double energy_ = 0;

  // What the sensors showed at the last refresh.
  Instant next_refresh_;
  double shown_energy_ = 0;
  double shown_power_ = 0;
  Instant next_history_;
  std::deque<TimedPower> history_;
};

}  // namespace hypermile
