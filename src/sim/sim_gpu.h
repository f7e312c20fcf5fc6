// SPDX-License-Identifier: Apache-2.0
//
// A simulated card under a simulated job as a Gpu, on an injected Clock: it is brought up to date
// lazily by every call, so that nothing moves between two calls and equal seeds and calls give
// equal answers. Answers as NVML would: requests are checked against the sheet's lists, block their
// caller (on that Clock) and act later; sensors are those of the sheet. One thread.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "gpu/gpu.h"
#include "sim/advance.h"
#include "sim/gpu_sheet.h"
#include "sim/ranks.h"
#include "sim/workload.h"

namespace hypermile {

class SimRanks;

struct SimGpuOptions {
  std::uint64_t seed = 1;
  Effects effects = {};
  // Whether a request lets the clock run on for as long as the real call would block.
  bool blocking_requests = true;
};

class SimGpu final : public Gpu {
 public:
  // Starts idle. `clock` must outlive it.
  SimGpu(GpuSheet sheet, Clock& clock, const SimGpuOptions& options = {});

  // Starts the job now, in place of one that runs. `iterations` 0: endless.
  void start(const Workload& workload, std::uint64_t iterations = 0);
  // The same as one of several ranks; sim_ranks.h calls it.
  void start_rank(SimRanks& ranks, const Load& load, std::uint64_t iterations);
  SimRank as_rank();
  void stop();
  bool running();
  // How far the job has come: whole and part training iterations since its start.
  double iterations();
  // Told of every stretch of the job as it is passed; null ends it. Must outlive this or be ended.
  void observe(JobObserver* observer) { observer_ = observer; }

  // True state, for judges and tests.
  const SimGpuState& state();
  SimView true_view();
  const GpuSheet& sheet() const { return sheet_; }
  Instant instant(double state_time_s) const { return origin_ + Seconds(state_time_s); }

  const GpuIdentity& identity() const override { return identity_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  Result<Sample> read(SensorSet wanted) override;
  Result<std::vector<TimedPower>> power_history(Instant after) override;
  Result<ActivityMetrics> activity() override;
  Result<std::vector<GpuProcess>> processes() override;
  ApplyOutcome apply(const Setting& setting) override;
  Result<void> reset(Knob knob) override;

 private:
  void catch_up();
  void ask(Knob knob, std::optional<double> value);
  Result<void> apply_one(Knob knob, double value);

  GpuSheet sheet_;
  Clock& clock_;
  SimGpuOptions options_;
  Instant origin_;
  SimGpuState state_;
  std::optional<Load> load_;
  SimRanks* ranks_ = nullptr;  // of the job that runs, where it has several
  JobObserver* observer_ = nullptr;
  GpuIdentity identity_;
  Capabilities capabilities_;
  std::optional<Totals> activity_from_;
  double activity_from_s_ = 0;
};

}  // namespace hypermile
