// SPDX-License-Identifier: Apache-2.0
#include "sim/sim_gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "gpu/knob_check.h"
#include "sim/sim_ranks.h"

namespace hypermile {
namespace {

GpuIdentity identity_of(const GpuSheet& sheet, std::uint64_t seed) {
  GpuIdentity identity;
  const std::uint64_t a = derive_seed(seed, (sheet.key + "/uuid").c_str());
  const std::uint64_t b = derive_seed(a, "low");
  identity.uuid =
      GpuUuid(fmt::format("GPU-{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", a >> 32, (a >> 16) & 0xFFFF,
                          a & 0xFFFF, b >> 48, b & 0xFFFFFFFFFFFFULL));
  identity.name = sheet.name;
  identity.driver_version = "simulated";
  return identity;
}

std::uint64_t state_seed(const GpuSheet& sheet, std::uint64_t seed) {
  return derive_seed(seed, sheet.key.c_str());
}

}  // namespace

CardTraits card_of(const GpuSheet& sheet, std::uint64_t seed) {
  return make_sim_gpu(sheet.constants, state_seed(sheet, seed)).card;
}

SimGpu::SimGpu(GpuSheet sheet, Clock& clock, const SimGpuOptions& options)
    : sheet_(std::move(sheet)),
      clock_(clock),
      options_(options),
      origin_(clock.now()),
      state_(make_sim_gpu(sheet_.constants, state_seed(sheet_, options.seed), options.effects)),
      identity_(identity_of(sheet_, options.seed)),
      capabilities_(capabilities_of(sheet_)) {
  if (!options_.run_seed) return;
  state_.random.state = derive_seed(*options_.run_seed, "card");
  state_.job_random.state = derive_seed(*options_.run_seed, "job");
  state_.level_random.state = derive_seed(*options_.run_seed, "level");
}

void SimGpu::catch_up() {
  if (ranks_ != nullptr) return ranks_->advance(clock_.now());
  advance(state_, sheet_.constants, load_ ? &*load_ : nullptr, clock_.now() - origin_, observer_);
}

void SimGpu::start(const Workload& workload, std::uint64_t iterations) {
  catch_up();
  ranks_ = nullptr;
  load_ = workload.load;
  start_job(state_, sheet_.constants, *load_, iterations);
}

void SimGpu::start_rank(SimRanks& ranks, const Load& load, std::uint64_t iterations) {
  catch_up();
  load_ = load;
  start_job(state_, sheet_.constants, *load_, iterations, 0);
  ranks_ = &ranks;
}

SimRank SimGpu::as_rank() {
  return {&state_,
          &sheet_.constants,
          load_ ? &*load_ : nullptr,
          observer_,
          (origin_ - Instant()).value(),
          0};
}

void SimGpu::stop() {
  catch_up();
  ranks_ = nullptr;
  stop_job(state_, sheet_.constants);
}

bool SimGpu::running() {
  catch_up();
  return state_.job.running;
}

double SimGpu::iterations() {
  return true_view().iterations;
}

const SimGpuState& SimGpu::state() {
  catch_up();
  return state_;
}

SimView SimGpu::true_view() {
  catch_up();
  return view(state_, sheet_.constants, load_ ? &*load_ : nullptr);
}

Result<Sample> SimGpu::read(SensorSet wanted) {
  const SimView now = true_view();
  const SensorState& sensors = state_.sensors;
  Sample sample;
  sample.time = instant(state_.now_s);
  if (wanted.has(Sensor::kPowerInstant)) sample.power_instant = Watts(sensors.shown_power_w);
  if (wanted.has(Sensor::kPowerAverage) && sensors.shown_average_w) {
    sample.power_average = Watts(*sensors.shown_average_w);
  }
  if (wanted.has(Sensor::kEnergy)) sample.energy = Joules(sensors.shown_energy_j);
  if (wanted.has(Sensor::kClocks)) {
    sample.sm_clock = now.sm_reported;
    sample.memory_clock = now.memory;
  }
  if (wanted.has(Sensor::kUtilization)) {
    // NVML reports whole percent.
    sample.gpu_utilization = std::round(sensors.shown_utilization * 100) / 100;
    sample.memory_utilization = std::round(sensors.shown_memory_utilization * 100) / 100;
  }
  if (wanted.has(Sensor::kTemperature)) sample.temperature = Celsius(std::floor(now.die.value()));
  if (wanted.has(Sensor::kEventReasons)) sample.reasons = EventReasons{now.reasons};
  if (wanted.has(Sensor::kPowerLimit)) sample.power_limit = now.limit;
  return sample;
}

Result<std::vector<TimedPower>> SimGpu::power_history(Instant after) {
  catch_up();
  const SensorState& sensors = state_.sensors;
  if (sheet_.constants.sensors.history_period <= Seconds(0)) {
    return Error{ErrorCode::kUnsupported, sheet_.name + " has no buffer of power samples"};
  }
  std::vector<TimedPower> samples;
  const std::uint64_t kept = std::min<std::uint64_t>(sensors.history_count, kHistorySize);
  for (std::uint64_t i = sensors.history_count - kept; i < sensors.history_count; ++i) {
    const HistoryEntry& entry = sensors.history[i % kHistorySize];
    const Instant time = instant(entry.time_s);
    if (time > after) samples.push_back({time, Watts(static_cast<double>(entry.power_w))});
  }
  return samples;
}

Result<ActivityMetrics> SimGpu::activity() {
  const SensorModel& model = sheet_.constants.sensors;
  if (!model.activity_metrics) {
    return Error{ErrorCode::kUnsupported, sheet_.name + " has no activity metrics",
                 "they need Hopper or newer"};
  }
  const Totals totals = true_view().totals;
  const double span = state_.now_s - activity_from_s_;
  if (!activity_from_ || span < model.activity_window.value()) {
    if (!activity_from_) {
      activity_from_ = totals;
      activity_from_s_ = state_.now_s;
    }
    return Error{ErrorCode::kNotReady, "the interval is too short for activity metrics",
                 fmt::format("ask again after {} ms", model.activity_window.value() * 1e3)};
  }
  const Totals& from = *activity_from_;
  ActivityMetrics metrics;
  metrics.from = instant(activity_from_s_);
  metrics.to = instant(state_.now_s);
  // Real cards sometimes return "not a number".
  const auto known = [&](double value) -> std::optional<double> {
    if (model.activity_missing > 0 && state_.random.uniform() < model.activity_missing) return {};
    return value;
  };
  const auto share = [&](double Totals::*total) {
    return known(std::clamp((totals.*total - from.*total) / span, 0.0, 1.0));
  };
  metrics.graphics = share(&Totals::busy_s);
  metrics.sm = share(&Totals::sm_s);
  metrics.dram_bandwidth = share(&Totals::dram_s);
  metrics.fp64 = share(&Totals::fp64_s);
  metrics.fp32 = share(&Totals::fp32_s);
  metrics.any_tensor = share(&Totals::tensor_s);
  metrics.hmma_tensor = metrics.any_tensor;
  metrics.fp16 = metrics.integer = metrics.dfma_tensor = metrics.imma_tensor = known(0);
  if (load_) {
    const double busy = (totals.busy_s - from.busy_s) / span;
    metrics.sm_occupancy = known(load_->occupancy * busy);
    metrics.pcie_rx_mib_s = known(load_->pcie_mib_s * busy);
    metrics.pcie_tx_mib_s = known(load_->pcie_mib_s * busy * 0.1);
  }
  activity_from_ = totals;
  activity_from_s_ = state_.now_s;
  return metrics;
}

Result<std::vector<GpuProcess>> SimGpu::processes() {
  return std::vector<GpuProcess>();
}

void SimGpu::ask(Knob knob, std::optional<double> value) {
  catch_up();
  const Seconds blocked = request(state_, sheet_.constants, knob, value);
  if (options_.blocking_requests) clock_.sleep_for(blocked);
}

Result<void> SimGpu::apply_one(Knob knob, double value) {
  switch (knob) {
    case Knob::kSmClock: {
      ASSIGN_OR_RETURN(const Mhz clock,
                       supported_clock("SM clock", Mhz(value), capabilities_.sm_clocks));
      ask(knob, clock.value());
      return {};
    }
    case Knob::kMemoryClock: {
      if (capabilities_.memory_clock_lock != Support::kYes) {
        return Error{ErrorCode::kUnsupported, sheet_.name + " cannot lock its memory clock"};
      }
      ASSIGN_OR_RETURN(const Mhz clock,
                       supported_clock("memory clock", Mhz(value), capabilities_.memory_clocks));
      ask(knob, clock.value());
      return {};
    }
    case Knob::kPowerLimit:
      RETURN_IF_ERROR(check_power_limit(Watts(value), capabilities_.power_limit_range));
      ask(knob, value);
      return {};
  }
  return Error{ErrorCode::kInternal, "unknown knob"};
}

ApplyOutcome SimGpu::apply(const Setting& setting) {
  ApplyOutcome outcome;
  for (const Knob knob : kAllKnobs) {
    if (const auto value = setting.value(knob)) outcome.push_back({knob, apply_one(knob, *value)});
  }
  return outcome;
}

Result<void> SimGpu::reset(Knob knob) {
  if (state_.requested.has(knob)) ask(knob, std::nullopt);
  return {};
}

}  // namespace hypermile
