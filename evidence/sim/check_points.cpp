// SPDX-License-Identifier: Apache-2.0
#include "evidence/sim/check_points.h"

#include <fmt/format.h>

#include <cmath>

#include "base/nelder_mead.h"
#include "sim/gpu_sheet.h"
#include "sim/steady_state.h"

namespace hypermile {
namespace {

PartWork& only_part(Load& load) {
  load.phase_count = 1;
  load.phases[0].part_count = 1;
  return load.phases[0].parts[0];
}

Load kernel(double flops, double bytes, Precision precision = Precision::kFp32) {
  Load load;
  PartWork& part = only_part(load);
  part.flops[static_cast<std::size_t>(precision)] = flops;
  part.bytes = bytes;
  return load;
}

Setting at_clock(double mhz) {
  Setting setting;
  setting.sm_clock = Mhz(mhz);
  return setting;
}

struct Published {
  double x = 0;  // MHz or W
  double energy = 0;
  double time = 0;  // 0: not given
};

void compare(std::vector<CheckPoint>& points, const std::string& what, const char* unit,
             const Published& row, const SteadyState& state, const SteadyState& normal) {
  points.push_back({fmt::format("{} at {:g} {}: energy", what, row.x, unit), row.energy,
                    state.energy() / normal.energy()});
  if (row.time > 0) {
    points.push_back({fmt::format("{} at {:g} {}: time", what, row.x, unit), row.time,
                      state.time / normal.time});
  }
}

void add_clocks(std::vector<CheckPoint>& points, const std::string& what, const GpuConstants& gpu,
                const Load& load, const std::vector<Published>& rows) {
  const SteadyState normal = steady_state(gpu, load, {});
  for (const Published& row : rows) {
    compare(points, what, "MHz", row, steady_state(gpu, load, at_clock(row.x)), normal);
  }
}

// Only ratios are published for the job behind the limit sweep, so four numbers are fitted. It
// waits for long times (input of an epoch), so the limiter cannot average over its waits.
Load limit_job(const std::vector<double>& x) {
  Load load;
  PartWork& part = only_part(load);
  part.flops[static_cast<std::size_t>(Precision::kFp32)] = std::exp(x[0]);
  part.bytes = std::exp(x[1]);
  part.activity = std::exp(x[2]);
  load.phases[0].part_count = 2;
  load.phases[0].parts[1].host = Seconds(std::exp(x[3]));
  return load;
}

void add_limits(std::vector<CheckPoint>& points, const GpuConstants& gpu) {
  const std::vector<Published> rows = {{225, 0.95, 1.02},  {200, 0.88, 1.05}, {175, 0.83, 1.10},
                                       {150, 0.775, 1.18}, {125, 0.80, 1.44}, {100, 0.86, 1.93}};
  const auto against = [&](const std::vector<double>& x) {
    std::vector<CheckPoint> found;
    const Load load = limit_job(x);
    const SteadyState normal = steady_state(gpu, load, {});
    for (const Published& row : rows) {
      Setting setting;
      setting.power_limit = Watts(row.x);
      compare(found, "V100 ResNet50", "W", row, steady_state(gpu, load, setting), normal);
    }
    return found;
  };
  const auto cost = [&](const std::vector<double>& x) {
    double sum = 0;
    for (const CheckPoint& point : against(x)) sum += std::pow(point.error(), 2);
    return sum;
  };
  Minimum best{{}, 1e9};
  for (const double flops : {29.0, 30.0, 31.0}) {
    for (const double bytes : {25.0, 26.0, 27.0}) {
      Minimum found = nelder_mead(cost, {flops, bytes, 0, -2}, 0.5, 600);
      if (found.value < best.value) best = std::move(found);
    }
  }
  for (CheckPoint& point : against(best.at)) points.push_back(std::move(point));
}

// Relative change against the default.
struct Change {
  double time = 0, energy = 0;
};
Change change(const GpuConstants& gpu, const Load& load, std::optional<double> sm,
              std::optional<double> memory) {
  Setting setting;
  if (sm) setting.sm_clock = Mhz(*sm);
  if (memory) setting.memory_clock = Mhz(*memory);
  const SteadyState normal = steady_state(gpu, load, {});
  const SteadyState there = steady_state(gpu, load, setting);
  return {there.time / normal.time - 1, there.energy() / normal.energy() - 1};
}

std::string shown(const Change& change) {
  return fmt::format("time {:+.1f} %, energy {:+.1f} %", change.time * 100, change.energy * 100);
}

}  // namespace

Result<std::vector<CheckPoint>> check_points() {
  ASSIGN_OR_RETURN(const GpuSheet v100, load_gpu_sheet("v100-pcie"));
  ASSIGN_OR_RETURN(const GpuSheet a4000, load_gpu_sheet("a4000"));
  std::vector<CheckPoint> points;
  const Load fma = kernel(1e12, 0);
  add_clocks(points, "V100 FMA", v100.constants, fma,
             {{1237, 0.855, 1.10}, {1087, 0.752, 1.25}, {945, 0.718, 1.45}, {502, 0.846, 0}});
  // The source says: within 1 % of the default's time.
  add_clocks(points, "V100 vectorAdd", v100.constants, kernel(3e9, 3.6e10),
             {{1237, 0.904, 1.0}, {1087, 0.814, 1.0}, {945, 0.777, 1.01}, {705, 0.874, 1.47}});
  add_clocks(points, "A4000 FMA", a4000.constants, fma,
             {{1710, 0.978, 1.02},
              {1530, 0.842, 1.14},
              {1335, 0.748, 1.30},
              {960, 0.846, 0},
              {405, 1.354, 0}});
  add_limits(points, v100.constants);
  return points;
}

Result<std::vector<Direction>> kernel_class_directions() {
  ASSIGN_OR_RETURN(const GpuSheet sheet, load_gpu_sheet("rtx3080ti"));
  const GpuConstants& gpu = sheet.constants;
  Load gemm = kernel(6.5e12, 1.2e10, Precision::kBf16);
  only_part(gemm).compute_efficiency = 0.85;
  const Load elementwise = kernel(2e9, 8e9);
  Load softmax = kernel(1.1e11, 8e9);
  only_part(softmax).compute_efficiency = 0.6;
  std::vector<Direction> table;
  const auto add = [&](const char* what, const char* published, const Change& found, bool agrees) {
    table.push_back({what, published, shown(found), agrees});
  };
  const Change gear = change(gpu, gemm, {}, 5001);
  add("GEMM, memory 5001, core auto", "time −1..−3 %, energy −2.7..−16 %", gear,
      gear.time < 0.005 && gear.energy < -0.02);
  const Change low_core = change(gpu, gemm, 1050, {});
  add("GEMM, core 1050", "not chosen: costs time", low_core, low_core.time > 0.1);
  const Change both = change(gpu, gemm, 1680, 5001);
  add("backward GEMM, memory 5001, core 1680", "time +9..10 %, energy −29..−31 %", both,
      both.energy < gear.energy && both.time < 0.15);
  const Change slow = change(gpu, elementwise, 1050, {});
  add("elementwise, core 1050", "time ≤ +2 %, energy −27..−33 %", slow,
      slow.time < 0.06 && slow.energy < -0.15);
  const Change starved = change(gpu, elementwise, {}, 5001);
  add("elementwise, memory 5001", "not chosen: costs time", starved, starved.time > 0.3);
  const Change faster = change(gpu, elementwise, {}, 9501);
  add("elementwise, memory 9501", "chosen beside auto: not slower", faster, faster.time <= 0);
  const Change medium = change(gpu, softmax, 1470, {});
  add("softmax, core 1470", "chosen from 1050 to 1680", medium,
      medium.time < 0.10 && medium.energy < -0.1);
  const Change lowest = change(gpu, elementwise, 630, 810);
  add("any kernel, memory 810", "never useful", lowest, lowest.energy > 0);
  return table;
}

}  // namespace hypermile
