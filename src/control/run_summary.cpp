// SPDX-License-Identifier: Apache-2.0
#include "control/run_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

Estimate scaled(const WindowMean& mean, double factor) {
  Estimate estimate{*mean.mean() * factor, mean.interval95()};
  if (estimate.interval95) *estimate.interval95 *= factor;
  return estimate;
}

// Independent GPUs: values add, intervals by their squares.
void add_to(std::optional<Estimate>& sum, const Estimate& part) {
  if (!sum) {
    sum = part;
    return;
  }
  sum->value += part.value;
  if (sum->interval95 && part.interval95) {
    sum->interval95 = std::hypot(*sum->interval95, *part.interval95);
  } else {
    sum->interval95.reset();
  }
}

void add_windows(PhaseReport& report, const PhaseWindows& of) {
  report.windows += of.windows;
  report.windows_that_count += of.time.windows();
  report.gpu_timed += of.gpu_timed;
  for (const auto& [reason, count] : of.unusable) report.unusable[reason] += count;
  // All GPUs see the same iterations: the time of one is the time of all.
  if (!report.time && of.time.mean()) report.time = scaled(of.time, report.micro_batches);
  if (of.gpu.empty()) return;
  if (of.energy.mean()) add_to(report.energy, scaled(of.energy, report.micro_batches));
  if (!report.disagreement) report.disagreement = of.disagreement.mean();
  if (!report.sm_clock) report.sm_clock = of.sm_clock.mean();
  if (of.power.mean()) report.power = report.power.value_or(0) + *of.power.mean();
}

PhaseReport report_on(const PhaseProgress& phase, const ProcessProgress& process,
                      const WindowBook& book) {
  PhaseReport report;
  report.phase = phase.phase;
  report.name = phase.name;
  report.in_force = phase.locked;
  if (phase.pattern) report.launches = phase.pattern->launches_per_iteration;
  report.micro_batches = phase.micro_batches();
  for (const PhaseProgress::Level& level : phase.levels) {
    if (!level.optimizer) report.outer.push_back(level.outer.inner);
  }
  report.iterations = phase.iterations / report.micro_batches;
  report.estimated = phase.estimated / report.micro_batches;
  report.launches *= report.micro_batches;
  if (report.iterations > 0) report.pace = report.in_force / report.iterations;
  for (const PhaseWindows& windows : book.entries()) {
    if (windows.process == &process && windows.phase == phase.phase) add_windows(report, windows);
  }
  return report;
}

ProcessReport report_on(const ProcessProgress& process, const WindowBook& book) {
  ProcessReport report;
  report.pid = process.pid();
  report.name = process.name();
  report.source = to_string(process.source());
  report.devices = process.devices();
  report.launches = process.launches();
  report.lost = process.lost();
  report.gpu_times = process.gpu_times();
  if (process.first_seen()) report.seen = *process.last_seen() - *process.first_seen();
  if (report.seen > Seconds(0)) {
    report.coverage = std::min(1.0, process.covered() / report.seen);
  }
  for (const PhaseProgress& phase : process.phases()) {
    if (phase.iterations > 0) report.phases.push_back(report_on(phase, process, book));
  }
  std::ranges::stable_sort(report.phases, [](const PhaseReport& a, const PhaseReport& b) {
    return a.in_force > b.in_force;
  });
  if (report.phases.empty()) {
    if (const auto rate = process.work_rate()) report.launch_rate = rate->launches;
  }
  return report;
}

void note_process(const ProcessProgress& process, std::vector<std::string>& notes) {
  const std::string who = fmt::format("process {} ({})", process.pid(), process.name());
  if (process.lost() > 0) {
    notes.push_back(fmt::format("{}: {} of {} launches were lost on the way; counts may be short",
                                who, process.lost(), process.lost() + process.launches()));
  }
  if (process.damaged() > 0) {
    notes.push_back(
        fmt::format("{}: {} records made no sense and were passed over", who, process.damaged()));
  }
  if (!process.problem().empty()) notes.push_back(who + ": " + process.problem());
  const std::optional<RingInfo>& info = process.launch_info();
  if (!info || info->status == RingStatus::kWatching || info->status == RingStatus::kEnded) return;
  if (info->status == RingStatus::kHandedOver) {
    notes.push_back(who +
                    ": a profiler started and took over; its launches were not seen any more");
  } else if (info->status == RingStatus::kOtherProfiler) {
    notes.push_back(who + ": a profiler was there before us; its launches were not seen");
  } else if (!info->reason.empty()) {
    notes.push_back(who + ": " + info->reason);
  }
}

}  // namespace

RunSummary summarize(const JobProgress& progress, const WindowBook& book,
                     const std::vector<const GpuWatch*>& gpus) {
  RunSummary summary;
  const ProcessProgress* main = progress.main_process();
  for (const auto& process : progress.processes()) {
    const auto at = process.get() == main ? summary.processes.begin() : summary.processes.end();
    summary.processes.insert(at, report_on(*process, book));
    note_process(*process, summary.notes);
  }
  for (const GpuWatch* gpu : gpus) {
    GpuReport report;
    report.device = gpu->name().device;
    if (gpu->opened()) {
      report.uuid = gpu->identity().uuid.text();
      report.name = gpu->identity().name;
      report.energy = gpu->energy();
    }
    if (gpu->problem()) report.problem = gpu->problem()->line();  // said when it happened
    summary.gpus.push_back(std::move(report));
  }
  if (progress.processes().empty()) {
    summary.notes.emplace_back("no process of the job used CUDA or ticks where we could see it");
  }
  return summary;
}

}  // namespace hypermile
