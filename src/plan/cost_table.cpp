// SPDX-License-Identifier: Apache-2.0
#include "plan/cost_table.h"

#include <algorithm>
#include <cmath>

#include "sim/part_rate.h"

namespace hypermile {
namespace {

constexpr double kLowestShare = 0.4;      // of the boost clock, as in sweep/curve.h
constexpr double kClockTolerance = 0.05;  // MHz
constexpr double kWarm = 60;              // °C, the start of the search for the temperature
constexpr double kCool = 0.01;            // °C, the change at which that search ends
constexpr int kThermalRounds = 12;

// The kernels of all stages in one array, so that an iteration is evaluated in one pass.
struct FlatKernels {
  std::vector<PartWork> parts;
  std::vector<std::size_t> ends;  // for each stage, the index after its last part
};

FlatKernels flatten(const std::vector<PlanStage>& stages, const Efficiency& efficiency) {
  FlatKernels flat;
  for (const PlanStage& stage : stages) {
    for (const Kernel& kernel : stage.kernels) flat.parts.push_back(part_of(kernel, efficiency));
    flat.ends.push_back(flat.parts.size());
  }
  return flat;
}

class IterationCost {
 public:
  IterationCost(const GpuConstants& gpu, FlatKernels flat) : gpu_(gpu), flat_(std::move(flat)) {
    settle();
  }

  // The SM clock that the driver holds over an iteration where it is not locked.
  struct Held {
    double sm_mhz = 0;
    bool capped = false;
  };
  Held held(double memory) const {
    double high = gpu_.clocks.sm_boost.value();
    if (within_limit(high, memory)) return {high, false};
    double low = gpu_.clocks.sm_min.value();
    while (high - low > kClockTolerance) {
      const double middle = (low + high) / 2;
      (within_limit(middle, memory) ? low : high) = middle;
    }
    return {low, true};
  }

  void costs(double sm, double memory, StageCost* out, std::size_t stride) const {
    std::size_t part = 0;
    for (const std::size_t end : flat_.ends) {
      StageCost sum;
      for (; part < end; ++part) {
        const PartRate rate = rate_of(part, sm, memory);
        const double time = rate.wait_s + rate.busy_s;
        sum.time_s += time;
        sum.energy_j += time * mean_power(rate, 1, leakage_);
      }
      *out = sum;
      out += stride;
    }
  }

 private:
  PartRate rate_of(std::size_t part, double sm, double memory) const {
    return part_rate(gpu_, {}, flat_.parts[part], sm, memory, leakage_, 1);
  }

  struct Mean {
    double power = 0, estimate = 0;
  };
  Mean mean(double sm, double memory) const {
    double time = 0, energy = 0, estimate = 0;
    for (std::size_t i = 0; i < flat_.parts.size(); ++i) {
      const PartRate rate = rate_of(i, sm, memory);
      time += rate.wait_s + rate.busy_s;
      energy += (rate.wait_s + rate.busy_s) * mean_power(rate, 1, leakage_);
      estimate += rate.busy_s * rate.estimate_w;
    }
    return {energy / time, estimate / time};
  }

  bool within_limit(double sm, double memory) const {
    const Mean m = mean(sm, memory);
    return std::max(m.power, m.estimate) <= gpu_.limit.normal.value() * gpu_.limiter.target;
  }

  // Iterates temperature and leakage at the default setting until both agree.
  void settle() {
    double die = kWarm;
    for (int round = 0; round < kThermalRounds; ++round) {
      leakage_ = leakage_watts(gpu_.power, {}, die);
      const double memory = gpu_.clocks.memory_default.value();
      const double settled =
          gpu_.thermal.ambient.value() +
          gpu_.thermal.degrees_per_watt * mean(held(memory).sm_mhz, memory).power;
      const bool done = std::abs(settled - die) < kCool;
      die = std::min(settled, gpu_.thermal.slowdown.value());
      if (done) break;
    }
  }

  const GpuConstants& gpu_;
  FlatKernels flat_;
  double leakage_ = 0;
};

// The default comes first, then memory clocks descending, with SM clocks descending in each.
std::vector<Choice> make_choices(const GpuSheet& sheet, const IterationCost& iteration,
                                 std::optional<Mhz> held_at_default) {
  const ClockRanges& clocks = sheet.constants.clocks;
  std::vector<Mhz> gears = {clocks.memory_default};
  for (const Mhz gear : sheet.memory_clocks()) {
    if (clocks.memory_lock && gear != clocks.memory_default) gears.push_back(gear);
  }
  std::vector<Choice> choices;
  for (const Mhz gear : gears) {
    auto held = iteration.held(gear.value());
    if (held_at_default && gear == clocks.memory_default) {
      held = {held_at_default->value(), *held_at_default < clocks.sm_boost};
    }
    Choice open{{}, Mhz(held.sm_mhz), gear, held.capped};
    if (gear != clocks.memory_default) open.setting.memory_clock = gear;
    choices.push_back(open);
    for (const Mhz sm : sheet.sm_clocks()) {
      if (sm.value() >= held.sm_mhz || sm < clocks.sm_boost * kLowestShare) continue;
      Choice locked{open.setting, sm, gear, false};
      locked.setting.sm_clock = sm;
      choices.push_back(locked);
    }
  }
  return choices;
}

}  // namespace

StageCost CostTable::uniform(std::size_t choice) const {
  StageCost sum;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    sum.time_s += at(stage, choice).time_s;
    sum.energy_j += at(stage, choice).energy_j;
  }
  return sum;
}

CostTable make_cost_table(const GpuSheet& sheet, const std::vector<PlanStage>& stages,
                          const Efficiency& efficiency, std::optional<Mhz> held) {
  const IterationCost iteration(sheet.constants, flatten(stages, efficiency));
  CostTable table;
  table.choices = make_choices(sheet, iteration, held);
  table.stages = stages.size();
  const std::size_t width = table.choices.size();
  table.costs.resize(stages.size() * width);
  for (std::size_t i = 0; i < width; ++i) {
    const Choice& choice = table.choices[i];
    iteration.costs(choice.sm.value(), choice.memory.value(), table.costs.data() + i, width);
  }
  return table;
}

StageIdle idle_of(const GpuSheet& sheet, const PlanStage& stage, const Efficiency& efficiency,
                  const Choice& choice) {
  StageIdle idle;
  const GpuConstants& gpu = sheet.constants;
  for (const Kernel& kernel : stage.kernels) {
    const PartWork part = part_of(kernel, efficiency);
    const PartRate rate = part_rate(gpu, {}, part, choice.sm.value(), choice.memory.value(), 0, 0);
    const double time = rate.wait_s + rate.busy_s;
    const double compute = (rate.fp64 + rate.fp32 + rate.tensor) * rate.busy_s;
    const double moved =
        part.bytes / (gpu.rates.bandwidth * (choice.memory / gpu.rates.rated_memory));
    idle.compute_s += std::max(0.0, time - compute);
    idle.memory_s += std::max(0.0, time - moved);
  }
  return idle;
}

double ridge(const GpuSheet& sheet, Precision precision, Mhz sm, Mhz memory) {
  const Rates& rates = sheet.constants.rates;
  std::size_t unit = static_cast<std::size_t>(precision);
  const auto fp32 = static_cast<std::size_t>(Precision::kFp32);
  while (unit > fp32 && rates.flops[unit] <= 0) --unit;
  const double bandwidth =
      rates.bandwidth * std::min(memory / rates.rated_memory, bandwidth_share(rates, sm.value()));
  return rates.flops[unit] * (sm / rates.rated_sm) / bandwidth;
}

double stage_time(const GpuConstants& gpu, const std::vector<Kernel>& kernels,
                  const Efficiency& efficiency, Mhz sm, Mhz memory) {
  double time = 0;
  for (const Kernel& kernel : kernels) {
    const PartRate rate =
        part_rate(gpu, {}, part_of(kernel, efficiency), sm.value(), memory.value(), 0, 0);
    time += rate.wait_s + rate.busy_s;
  }
  return time;
}

}  // namespace hypermile
