// SPDX-License-Identifier: Apache-2.0
#include "evidence/sim/form_fit.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/nelder_mead.h"
#include "sim/steady_state.h"

namespace hypermile {
namespace {

constexpr std::size_t kFp32 = static_cast<std::size_t>(Precision::kFp32);
constexpr double kUnit = 1e12;  // rates are arbitrary: only shares matter
constexpr std::size_t kCurvesForGpu = 12;
constexpr std::size_t kPointsForGpu = 14;
constexpr int kInnerEvaluations = 120;
constexpr int kOuterEvaluations = 220;
constexpr int kFinalEvaluations = 500;

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

// Seven numbers that all curves of a GPU share, on scales where 0.5 is a moderate step.
struct GpuShape {
  std::vector<double> at = {0, 0.5, -0.7, -0.5, 0, -1, -1};
};

struct Ranges {
  double sm = 0, memory = 1000, limit = 1e4, highest_power = 0, lowest_power = 1e9;
};

Ranges ranges_of(const std::vector<const Curve*>& curves, const GpuHints& hints) {
  Ranges ranges;
  for (const Curve* curve : curves) {
    const auto& defaults = curve->default_values;
    if (defaults.sm_clock) ranges.sm = std::max(ranges.sm, defaults.sm_clock->value());
    if (defaults.memory_clock) ranges.memory = defaults.memory_clock->value();
    if (defaults.power_limit) ranges.limit = defaults.power_limit->value();
    for (const CurvePoint& point : curve->points) {
      ranges.highest_power = std::max(ranges.highest_power, point.power.value());
      ranges.lowest_power = std::min(ranges.lowest_power, point.power.value());
      if (point.setting.sm_clock) {
        ranges.sm = std::max(ranges.sm, point.setting.sm_clock->value());
      }
    }
  }
  if (hints.boost > Mhz(0)) ranges.sm = hints.boost.value();
  if (ranges.sm <= 0) ranges.sm = 1500;
  if (hints.limit > Watts(0)) ranges.limit = hints.limit.value();
  if (hints.memory > Mhz(0)) ranges.memory = hints.memory.value();
  return ranges;
}

GpuConstants constants_of(const GpuShape& shape, const Ranges& ranges) {
  const std::vector<double>& x = shape.at;
  GpuConstants gpu;
  gpu.clocks.sm_min = Mhz(ranges.sm * 0.05);
  gpu.clocks.sm_max = gpu.clocks.sm_boost = Mhz(ranges.sm);
  gpu.clocks.memory_default = Mhz(ranges.memory);
  gpu.limit.normal = Watts(ranges.limit);
  gpu.limiter.target = 1;
  gpu.limiter.averaging = Seconds(1e6);
  gpu.rates.rated_sm = Mhz(ranges.sm);
  gpu.rates.flops[kFp32] = kUnit;
  gpu.rates.bandwidth = kUnit;
  gpu.rates.rated_memory = Mhz(ranges.memory);
  gpu.power.fixed = Watts(ranges.lowest_power * logistic(x[0]));
  gpu.power.voltage_knee = Mhz(ranges.sm * (0.3 + 0.7 * logistic(x[1])));
  gpu.power.voltage_slope = 3 * logistic(x[2]) / ranges.sm;
  gpu.power.stream_activity = logistic(x[3]);
  gpu.power.gap_activity = 0.5 * gpu.power.stream_activity;
  const double knee = ranges.sm * (0.2 + 0.9 * logistic(x[4]));
  gpu.rates.bandwidth_at[0] = {Mhz(knee), 1};
  gpu.rates.bandwidth_points = 1;
  gpu.power.joules_per_byte = ranges.highest_power * std::exp(x[5]) / kUnit;
  gpu.power.memory_background = Watts(ranges.lowest_power * logistic(x[6]));
  gpu.power.pipe_activity[kFp32] = 1;
  gpu.power.core_watts_per_mhz = ranges.highest_power / ranges.sm;
  return gpu;
}

struct Job {
  Load load;
  CardTraits card;
};

// `x` holds the share of waiting, compute against memory, and watts of the core.
Job job_of(const std::vector<double>& x) {
  Job job;
  const double waiting = 0.98 * logistic(x[0]);
  const double angle = logistic(x[1]) * std::numbers::pi / 2;
  job.load.phase_count = 1;
  job.load.phases[0].part_count = 1;
  PartWork& part = job.load.phases[0].parts[0];
  part.flops[kFp32] = (1 - waiting) * std::cos(angle) * kUnit;
  part.bytes = (1 - waiting) * std::sin(angle) * kUnit;
  part.host = Seconds(waiting);
  job.card.core = std::exp(x[2]);
  return job;
}

Setting setting_of(const CurvePoint& point, const Curve& curve) {
  Setting setting = overlay(curve.default_values, point.setting);
  if (point.sm_seen) setting.sm_clock = point.sm_seen;
  // An unlocked default runs as the power limit permits; its clock is not a lock.
  if (point.setting.empty() && !point.sm_seen) setting.sm_clock.reset();
  return setting;
}

struct Errors {
  std::vector<double> time, energy;
};

Errors errors_of(const GpuConstants& gpu, const Curve& curve, const std::vector<double>& workload,
                 std::size_t stride) {
  const Job job = job_of(workload);
  const auto model = [&](const CurvePoint& point) {
    return steady_state(gpu, job.load, setting_of(point, curve), job.card);
  };
  const CurvePoint& normal = curve.default_point();
  const SteadyState at_default = model(normal);
  const double scale = normal.time / at_default.time;
  Errors errors;
  errors.energy.push_back(at_default.power / normal.power - 1);
  errors.time.push_back(0);
  for (std::size_t i = 1; i < curve.points.size(); i += stride) {
    const CurvePoint& point = curve.points[i];
    const SteadyState state = model(point);
    const double time = state.time.value() * scale / point.time.value();
    errors.time.push_back(time - 1);
    errors.energy.push_back(time * (state.power / point.power) - 1);
  }
  return errors;
}

double cost_of(const Errors& errors) {
  double sum = 0;
  for (std::size_t i = 0; i < errors.time.size(); ++i) {
    sum += std::abs(errors.time[i]) + std::abs(errors.energy[i]);
  }
  return std::isfinite(sum) ? sum / static_cast<double>(errors.time.size()) : 1e6;
}

Minimum fit_curve(const GpuConstants& gpu, const Curve& curve, const std::vector<double>& start,
                  std::size_t stride, int evaluations) {
  return nelder_mead(
      [&](const std::vector<double>& x) { return cost_of(errors_of(gpu, curve, x, stride)); },
      start, 0.7, evaluations);
}

const std::vector<std::vector<double>> kStarts = {
    {-3, 0, -1}, {-3, -2, -1}, {-3, 2, -1}, {0, 0, -1}};

CurveError final_error(const GpuConstants& gpu, const Curve& curve) {
  Minimum best{{}, 1e9};
  for (const std::vector<double>& start : kStarts) {
    Minimum found = fit_curve(gpu, curve, start, 1, kFinalEvaluations);
    if (found.value < best.value) best = std::move(found);
  }
  const Errors errors = errors_of(gpu, curve, best.at, 1);
  CurveError error;
  error.workload = to_string(curve.key);
  error.points = curve.points.size() - 1;
  std::vector<double> time;
  std::vector<double> energy;
  for (std::size_t i = 1; i < errors.time.size(); ++i) {
    time.push_back(std::abs(errors.time[i]));
    energy.push_back(std::abs(errors.energy[i]));
    error.worst_time = std::max(error.worst_time, time.back());
    if (energy.back() >= error.worst_energy) {
      error.worst_energy = energy.back();
      error.worst_at = to_string(curve.points[i].setting);
    }
  }
  error.time = median(time);
  error.energy = median(energy);
  return error;
}

GpuFit fit_with(const std::string& gpu, const GpuConstants& constants,
                const std::vector<const Curve*>& curves) {
  GpuFit fit;
  fit.gpu = gpu;
  fit.static_w = constants.power.fixed.value() + constants.power.memory_background.value();
  fit.knee_mhz = constants.power.voltage_knee.value();
  fit.slope_per_mhz = constants.power.voltage_slope;
  for (const Curve* curve : curves) fit.curves.push_back(final_error(constants, *curve));
  return fit;
}

double total_error(const GpuFit& fit) {
  double sum = 0;
  for (const CurveError& error : fit.curves) sum += error.time + error.energy;
  return sum;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

GpuFit fit_gpu(const std::string& gpu, const std::vector<const Curve*>& curves,
               const GpuHints& hints) {
  const Ranges ranges = ranges_of(curves, hints);
  // Fit the GPU's numbers to a selection of its curves, each with its best workload numbers so far.
  std::vector<const Curve*> chosen;
  const std::size_t every = std::max<std::size_t>(1, curves.size() / kCurvesForGpu);
  for (std::size_t i = 0; i < curves.size(); i += every) chosen.push_back(curves[i]);
  std::vector<std::vector<double>> best(chosen.size(), kStarts.front());
  const auto cost = [&](const std::vector<double>& at) {
    const GpuConstants constants = constants_of({at}, ranges);
    double sum = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const std::size_t stride = std::max<std::size_t>(1, chosen[i]->points.size() / kPointsForGpu);
      Minimum found = fit_curve(constants, *chosen[i], best[i], stride, kInnerEvaluations);
      sum += found.value;
      best[i] = std::move(found.at);
    }
    return sum;
  };
  // Two starts, compared on all curves: memory that needs a high SM clock, and memory that does
  // not.
  GpuFit lowest;
  for (const double bandwidth_knee : {0.0, -3.0}) {
    best.assign(chosen.size(), kStarts.front());
    GpuShape shape;
    shape.at[4] = bandwidth_knee;
    shape.at = nelder_mead(cost, shape.at, 0.8, kOuterEvaluations).at;
    GpuFit fit = fit_with(gpu, constants_of(shape, ranges), curves);
    if (lowest.curves.empty() || total_error(fit) < total_error(lowest)) lowest = std::move(fit);
  }
  return lowest;
}

}  // namespace hypermile
