// SPDX-License-Identifier: Apache-2.0
//
// sim_evidence [MEASURED [H200]]: prints docs/evidence/simulator.md, which compares the simulator
// with measured silicon. MEASURED is the folder of public sweeps, H200 that of recordings on an
// H200; a part without data says so. Called by scripts/evidence/simulator.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "evidence/sim/check_points.h"
#include "evidence/sim/form_evidence.h"
#include "evidence/sim/h200_points.h"

namespace hypermile {
namespace {

void print_check_points() {
  const auto points = check_points();
  if (!points) {
    fmt::print("{}\n", points.error().line());
    return;
  }
  fmt::print("| point | published | simulated | error |\n| --- | ---: | ---: | ---: |\n");
  double worst = 0;
  std::size_t within = 0;
  for (const CheckPoint& point : *points) {
    fmt::print("| {} | {:.3f} | {:.3f} | {:+.1f} % |\n", point.what, point.published,
               point.simulated, point.error() * 100);
    worst = std::max(worst, std::abs(point.error()));
    if (std::abs(point.error()) <= 0.03) ++within;
  }
  fmt::print("\n{} of {} within 3 %; the largest error is {:.1f} %.\n", within, points->size(),
             worst * 100);
}

void print_directions() {
  const auto table = kernel_class_directions();
  if (!table) {
    fmt::print("{}\n", table.error().line());
    return;
  }
  fmt::print(
      "| kernel and clocks | published | simulated | same direction |\n"
      "| --- | --- | --- | --- |\n");
  for (const Direction& row : *table) {
    fmt::print("| {} | {} | {} | {} |\n", row.what, row.published, row.simulated,
               row.agrees ? "yes" : "**no**");
  }
}

void print_h200(const std::string& folder) {
  const auto points = h200_points(folder + "/power_vs_clock.csv");
  if (!points) {
    fmt::print("Not made: {}.\n", points.error().line());
    return;
  }
  fmt::print(
      "| kernel | points | power: median, largest error | time: median, largest error |\n"
      "| --- | ---: | ---: | ---: |\n");
  std::size_t within = 0;
  for (std::size_t from = 0; from < points->size();) {
    std::size_t to = from;
    std::vector<double> power;
    std::vector<double> time;
    for (; to < points->size() && (*points)[to].kernel == (*points)[from].kernel; ++to) {
      const H200Point& point = (*points)[to];
      power.push_back(std::abs(point.simulated_power_w / point.power_w - 1));
      time.push_back(std::abs(point.simulated_op_us / point.op_us - 1));
      if (power.back() <= 0.05) ++within;
    }
    std::ranges::sort(power);
    std::ranges::sort(time);
    fmt::print("| {} | {} | {:.1f} %, {:.1f} % | {:.1f} %, {:.1f} % |\n", (*points)[from].kernel,
               power.size(), power[power.size() / 2] * 100, power.back() * 100,
               time[time.size() / 2] * 100, time.back() * 100);
    from = to;
  }
  fmt::print("\n{} of {} power points within 5 %.\n", within, points->size());
}

constexpr const char* kHead =
    R"(# The simulator against measured silicon

Made by `scripts/evidence/simulator`; nothing here is written by hand. Published and recorded values are compared with
the sheets in `gpus/`; the last part asks whether the simulator's form can describe other measured GPUs at all.

)";

}  // namespace
}  // namespace hypermile

int main(int argc, char** argv) {
  using namespace hypermile;
  const std::string measured = argc > 1 ? argv[1] : "";
  const std::string h200 = argc > 2 ? argv[2] : "";
  fmt::print(
      "{}## Published check points\n\nRatios to the default. The V100's ResNet50 job is known "
      "by its ratios only; its operations, bytes, activity and waits are fitted (four numbers, "
      "twelve points).\n\n",
      kHead);
  print_check_points();
  fmt::print(
      "\n## Which clocks suit which kernel (RTX 3080 Ti)\n\nDirections of Spaan et al. "
      "(2026), against the unlocked default.\n\n");
  print_directions();
  fmt::print(
      "\n## Power and limiter of an H200\n\nBursts of a kernel with gaps, as recorded at 0.3 "
      "to 1.0 duty under the 700 W limit; simulated with the limiter and every effect "
      "(the job's own slow level apart).\n\n");
  print_h200(h200);
  fmt::print(
      "\n## The form fitted to every measured workload\n\nPer GPU: voltage knee and slope, "
      "static power, what the SM clock lets memory do, what memory draws; per workload "
      "three numbers (share of waiting, compute against memory, watts of the core). Errors "
      "are medians over a workload's sweep, then over workloads.\n\n");
  std::fflush(stdout);
  fmt::print("{}", form_evidence(measured));
  return 0;
}
