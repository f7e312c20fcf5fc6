// SPDX-License-Identifier: Apache-2.0
#include "evidence/sim/h200_points.h"

#include <cmath>
#include <fstream>

#include "base/csv.h"
#include "base/parse.h"
#include "sim/advance.h"
#include "sim/gpu_sheet.h"

namespace hypermile {
namespace {

constexpr double kProduct = 2.0 * 8192 * 8192 * 8192;
constexpr double kOperands = 3.0 * 8192 * 8192;
constexpr double kWarmUp = 60;
constexpr double kMeasured = 60;

// One operation of a recorded kernel. Efficiencies follow from the recorded times at full clock,
// the activity of zeros from the recorded power.
Result<PartWork> operation(const std::string& kernel) {
  PartWork part;
  const auto flops = [&](Precision precision) -> double& {
    return part.flops[static_cast<std::size_t>(precision)];
  };
  if (kernel == "mm8192_bf16" || kernel == "mm8192_bf16_zeros") {
    flops(Precision::kBf16) = kProduct;
    part.bytes = 2 * kOperands;
    part.compute_efficiency = 0.834;
    if (kernel == "mm8192_bf16_zeros") part.activity = 0.176;
  } else if (kernel == "mm8192_tf32") {
    flops(Precision::kTf32) = kProduct;
    part.bytes = 4 * kOperands;
    part.compute_efficiency = 0.84;
  } else if (kernel == "copy_2GiB") {
    part.bytes = 2.0 * 2147483648.0;
  } else {
    return Error{ErrorCode::kParse, "unknown kernel " + kernel};
  }
  return part;
}

void simulate(const GpuConstants& gpu, const PartWork& one, double burst_s, double gap_s,
              H200Point& point) {
  const double count = std::round(burst_s / (point.op_us * 1e-6));
  Load load;
  load.phase_count = 1;
  load.phases[0].part_count = 1;
  PartWork& part = load.phases[0].parts[0];
  part = one;
  for (double& flops : part.flops) flops *= count;
  part.bytes *= count;
  part.host = Seconds(gap_s);
  SimGpuState state = make_sim_gpu(gpu, 1);
  // A slow level of the job would look like a slow operation.
  state.effects.two_level_times = 0;
  start_job(state, gpu, load);
  advance(state, gpu, &load, Seconds(kWarmUp));
  const SimView from = view(state, gpu, &load);
  advance(state, gpu, &load, Seconds(kWarmUp + kMeasured));
  const SimView to = view(state, gpu, &load);
  const double each = kMeasured / (to.iterations - from.iterations);
  point.simulated_power_w = (to.totals.energy_j - from.totals.energy_j) / kMeasured;
  point.simulated_op_us = (each - gap_s) / count * 1e6;
}

}  // namespace

Result<std::vector<H200Point>> h200_points(const std::string& csv) {
  ASSIGN_OR_RETURN(GpuSheet sheet, load_gpu_sheet("h200"));
  sheet.constants.spread = CardSpread();
  std::ifstream file(csv);
  if (!file) return Error{ErrorCode::kNotFound, csv + " is not there"};
  ASSIGN_OR_RETURN(CsvReader reader, CsvReader::open(file, csv));
  std::vector<H200Point> points;
  for (;;) {
    ASSIGN_OR_RETURN(const auto row, reader.next());
    if (!row) return points;
    const auto number = [&](const char* name) -> Result<double> {
      const auto column = reader.column(name);
      if (!column) return reader.error(std::string("has no column ") + name);
      return parse_number((*row)[*column]);
    };
    H200Point point;
    point.kernel = row->front();
    ASSIGN_OR_RETURN(const double burst_ms, number("burst_ms"));
    ASSIGN_OR_RETURN(const double gap_ms, number("gap_ms"));
    ASSIGN_OR_RETURN(point.op_us, number("op_us"));
    ASSIGN_OR_RETURN(point.power_w, number("power_w"));
    ASSIGN_OR_RETURN(const PartWork part, operation(point.kernel));
    point.duty = burst_ms / (burst_ms + gap_ms);
    simulate(sheet.constants, part, burst_ms * 1e-3, gap_ms * 1e-3, point);
    points.push_back(point);
  }
}

}  // namespace hypermile
