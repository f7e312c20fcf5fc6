// SPDX-License-Identifier: Apache-2.0
//
// A simulated card under a simulated job, as a Gpu on an injected Clock. Each call brings it up to
// date lazily, so equal seeds and calls give equal results. It behaves as NVML does: requests are
// checked against the sheet's lists, block their caller (on that Clock) and take effect later, and
// the sensors are those of the sheet. One thread.
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
  // Whether a request advances the clock for as long as the real call would block.
  bool blocking_requests = true;
  // Seed of the random events of one run, where they must differ from those that `seed` gives:
  // another run on the same card.
  std::optional<std::uint64_t> run_seed = {};
};

// The card that a SimGpu of this sheet and this seed (SimGpuOptions::seed) simulates: how it
// differs from the sheet.
CardTraits card_of(const GpuSheet& sheet, std::uint64_t seed);

class SimGpu final : public Gpu {
 public:
  // Starts idle. `clock` must outlive this.
  SimGpu(GpuSheet sheet, Clock& clock, const SimGpuOptions& options = {});

  // Starts a job now, replacing a running one. `iterations` 0 means endless.
  void start(const Workload& workload, std::uint64_t iterations = 0);
  // Starts a job as one of several ranks; called by sim_ranks.h.
  void start_rank(SimRanks& ranks, const Load& load, std::uint64_t iterations);
  SimRank as_rank();
  void stop();
  bool running();
  // Training iterations since the start, with the fraction of the current one.
  double iterations();
  // `observer` sees every stretch of the job as it passes, until replaced by null. It must live
  // until then.
  void observe(JobObserver* observer) { observer_ = observer; }

  // The true state, for judges and tests.
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
  SimRanks* ranks_ = nullptr;  // set while the running job has several ranks
  JobObserver* observer_ = nullptr;
  GpuIdentity identity_;
  Capabilities capabilities_;
  std::optional<Totals> activity_from_;
  double activity_from_s_ = 0;
};

}  // namespace hypermile
