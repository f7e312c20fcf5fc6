// SPDX-License-Identifier: Apache-2.0
#include "sim/part_rate.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr double kLeakageReference = 50;  // °C

constexpr std::size_t index(Precision precision) {
  return static_cast<std::size_t>(precision);
}

// The compute unit for a precision: the next slower one where the card lacks it.
std::size_t unit_for(const Rates& rates, std::size_t wanted) {
  std::size_t unit = wanted;
  while (unit > index(Precision::kFp32) && rates.flops[unit] <= 0) --unit;
  if (rates.flops[unit] <= 0) unit = index(Precision::kFp32);
  return unit;
}

// The part of the calculation that is independent of the SM clock, so that the brake can try
// several clocks.
struct Demand {
  double cycles_s = 0;   // compute time at the rated clock with perfect efficiency
  double toggles_s = 0;  // the same, weighted by the power of the pipes
  double fp64_s = 0, fp32_s = 0, tensor_s = 0;
};

Demand demand_of(const GpuConstants& gpu, const PartWork& part) {
  Demand demand;
  for (std::size_t i = 0; i < kPrecisions; ++i) {
    if (part.flops[i] <= 0) continue;
    const std::size_t unit = unit_for(gpu.rates, i);
    const double seconds = part.flops[i] / gpu.rates.flops[unit];
    demand.cycles_s += seconds;
    demand.toggles_s += seconds * gpu.power.pipe_activity[unit];
    if (unit == index(Precision::kFp64)) {
      demand.fp64_s += seconds;
    } else if (unit == index(Precision::kFp32)) {
      demand.fp32_s += seconds;
    } else {
      demand.tensor_s += seconds;
    }
  }
  demand.toggles_s *= part.activity;
  return demand;
}

double p_norm(double a, double b, double p) {
  if (a <= 0) return b;
  if (b <= 0) return a;
  const double larger = std::max(a, b);
  return larger * std::pow(1 + std::pow(std::min(a, b) / larger, p), 1 / p);
}

// Fills in everything that depends on the true SM clock.
void rate_at(const GpuConstants& gpu, const CardTraits& card, const PartWork& part,
             const Demand& demand, double sm_mhz, double memory_mhz, PartRate& rate) {
  const double slower = gpu.rates.rated_sm.value() / sm_mhz;
  const double gear = memory_mhz / gpu.rates.rated_memory.value();
  const double bandwidth = gpu.rates.bandwidth * std::min(gear, bandwidth_share(gpu.rates, sm_mhz));
  const double compute_s = demand.cycles_s * slower / part.compute_efficiency;
  const double memory_s = part.bytes / (bandwidth * part.memory_efficiency);
  rate.busy_s = p_norm(compute_s, memory_s, gpu.rates.overlap);
  const double v = voltage(gpu.power, sm_mhz);
  rate.busy_v2 = v * v;
  const double core = card.core * gpu.power.core_watts_per_mhz * sm_mhz * rate.busy_v2;
  const double ground = gpu.power.fixed.value() + gpu.power.memory_background.value() * gear;
  const double per_busy = rate.busy_s > 0 ? 1 / rate.busy_s : 0;
  const double stream = gpu.power.stream_activity;
  rate.busy_w = ground + core * (stream + (1 - stream) * demand.toggles_s * slower * per_busy) +
                gpu.power.joules_per_byte * part.bytes * per_busy;
  rate.dram = std::min(1.0, part.bytes / gpu.rates.bandwidth * per_busy);
  rate.fp64 = demand.fp64_s * slower * per_busy;
  rate.fp32 = demand.fp32_s * slower * per_busy;
  rate.tensor = demand.tensor_s * slower * per_busy;
  rate.estimate_w = rate.tensor * (gpu.limiter.estimate_base.value() +
                                   gpu.limiter.estimate_watts_per_mhz * sm_mhz * rate.busy_v2);
  rate.sm_true_mhz = sm_mhz;
}

}  // namespace

double voltage(const PowerModel& power, double sm_mhz) {
  return 1 + power.voltage_slope * std::max(0.0, sm_mhz - power.voltage_knee.value());
}

double bandwidth_share(const Rates& rates, double sm_mhz) {
  const auto* points = rates.bandwidth_at.data();
  const std::size_t count = rates.bandwidth_points;
  if (count == 0 || sm_mhz >= points[count - 1].sm.value()) return 1;
  // Below the first point the share falls in proportion to the clock.
  if (sm_mhz <= points[0].sm.value()) return points[0].share * sm_mhz / points[0].sm.value();
  std::size_t i = 1;
  while (sm_mhz > points[i].sm.value()) ++i;
  const double span = points[i].sm.value() - points[i - 1].sm.value();
  const double along = (sm_mhz - points[i - 1].sm.value()) / span;
  return points[i - 1].share + along * (points[i].share - points[i - 1].share);
}

double leakage_watts(const PowerModel& power, const CardTraits& card, double die_c) {
  return card.leakage * power.leakage.value() *
         std::exp(power.leakage_per_degree * (die_c - kLeakageReference));
}

PartRate part_rate(const GpuConstants& gpu, const CardTraits& card, const PartWork& part,
                   double sm_mhz, double memory_mhz, double leakage_w, double stretching) {
  const Demand demand = demand_of(gpu, part);
  PartRate rate;
  rate.wait_s = (part.launch_gap * part.launches + part.host + part.data_stall).value();
  rate_at(gpu, card, part, demand, sm_mhz, memory_mhz, rate);
  const double gear = memory_mhz / gpu.rates.rated_memory.value();
  rate.wait_v2 = rate.busy_v2;
  rate.wait_w =
      gpu.power.fixed.value() + gpu.power.memory_background.value() * gear +
      card.core * gpu.power.core_watts_per_mhz * gpu.power.gap_activity * sm_mhz * rate.wait_v2;
  const double peak = gpu.power.peak.value();
  const auto board = [&] { return rate.busy_w + leakage_w * rate.busy_v2; };
  if (peak <= 0 || stretching <= 0 || board() <= peak) return rate;
  // Power rises with the clock, so bisect until the brake's clock is known to a tenth of a MHz.
  double low = gpu.clocks.sm_min.value();
  double high = sm_mhz;
  while (high - low > 0.1) {
    const double middle = (low + high) / 2;
    rate_at(gpu, card, part, demand, middle, memory_mhz, rate);
    (board() > peak ? high : low) = middle;
  }
  const double stretched = std::max(sm_mhz / 2, sm_mhz - stretching * (sm_mhz - low));
  rate_at(gpu, card, part, demand, stretched, memory_mhz, rate);
  return rate;
}

PartRate blend(const WeightedRate* rates, std::size_t count) {
  PartRate sum;
  sum.busy_v2 = sum.wait_v2 = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const PartRate& rate = rates[i].rate;
    const double busy = rates[i].runs * rate.busy_s;
    const double wait = rates[i].runs * rate.wait_s;
    sum.busy_s += busy;
    sum.wait_s += wait;
    sum.busy_w += busy * rate.busy_w;
    sum.busy_v2 += busy * rate.busy_v2;
    sum.wait_w += wait * rate.wait_w;
    sum.wait_v2 += wait * rate.wait_v2;
    sum.estimate_w += busy * rate.estimate_w;
    sum.dram += busy * rate.dram;
    sum.fp64 += busy * rate.fp64;
    sum.fp32 += busy * rate.fp32;
    sum.tensor += busy * rate.tensor;
    sum.sm_true_mhz += busy * rate.sm_true_mhz;
  }
  const double per_busy = sum.busy_s > 0 ? 1 / sum.busy_s : 0;
  const double per_wait = sum.wait_s > 0 ? 1 / sum.wait_s : 0;
  for (double* mean : {&sum.busy_w, &sum.busy_v2, &sum.estimate_w, &sum.dram, &sum.fp64, &sum.fp32,
                       &sum.tensor, &sum.sm_true_mhz}) {
    *mean *= per_busy;
  }
  sum.wait_w *= per_wait;
  sum.wait_v2 *= per_wait;
  return sum;
}

double mean_power(const PartRate& rate, double factor, double leakage_w) {
  const double busy_s = rate.busy_s * factor;
  const double time = rate.wait_s + busy_s;
  if (time <= 0) return rate.wait_w;
  return (rate.wait_s * (rate.wait_w + leakage_w * rate.wait_v2) +
          busy_s * (rate.busy_w + leakage_w * rate.busy_v2)) /
         time;
}

}  // namespace hypermile
