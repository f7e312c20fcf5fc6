// SPDX-License-Identifier: Apache-2.0
#include "control/run_summary.h"

#include <fmt/format.h>

#include <algorithm>

namespace hypermile {
namespace {

// One iteration of a process over all of its GPUs: energies and powers add.
std::optional<SettingCost> cost_of(const std::vector<const PhaseFigures*>& gpus) {
  std::optional<SettingCost> sum;
  for (const PhaseFigures* gpu : gpus) {
    const std::vector<SettingCost> costs = gpu->costs();
    if (costs.empty()) continue;
    const SettingCost cost = gpu->cost_at({}).value_or(costs.front());
    if (sum) {
      add_gpu(*sum, cost);
    } else {
      sum = cost;
    }
  }
  return sum;
}

void add_figures(PhaseReport& report, std::int64_t process, const RunFigures& figures) {
  std::vector<const PhaseFigures*> gpus;
  for (const PhaseFigures& each : figures.phases()) {
    if (each.process() != process || each.pattern().phase != report.phase) continue;
    gpus.push_back(&each);
    report.windows += each.windows();
    for (const auto& [reason, count] : each.unusable()) report.unusable[reason] += count;
  }
  // What was measured before a GPU could be read has no energy.
  if (std::ranges::any_of(gpus, [](const PhaseFigures* each) { return !each->gpu().empty(); })) {
    std::erase_if(gpus, [](const PhaseFigures* each) { return each->gpu().empty(); });
  }
  report.cost = cost_of(gpus);
}

PhaseReport report_on(const PhaseProgress& phase, const ProcessProgress& process,
                      const RunFigures& figures) {
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
  add_figures(report, process.pid(), figures);
  return report;
}

ProcessReport report_on(const ProcessProgress& process, const RunFigures& figures) {
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
    if (phase.iterations > 0) report.phases.push_back(report_on(phase, process, figures));
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
    notes.push_back(fmt::format("{}: {} of {} launches were lost; counts may be too low", who,
                                process.lost(), process.lost() + process.launches()));
  }
  if (process.damaged() > 0) {
    notes.push_back(
        fmt::format("{}: {} records were damaged and passed over", who, process.damaged()));
  }
  if (!process.problem().empty()) notes.push_back(who + ": " + process.problem());
  if (!process.why_no_work().empty()) notes.push_back(who + ": " + process.why_no_work());
  const std::optional<RingInfo>& info = process.launch_info();
  if (!info || info->status == RingStatus::kWatching || info->status == RingStatus::kEnded) return;
  if (info->status == RingStatus::kHandedOver) {
    notes.push_back(
        who + ": a profiler started and took over; later launches of this process were not seen");
  } else if (info->status == RingStatus::kOtherProfiler) {
    notes.push_back(who +
                    ": another profiler was there first; launches of this process were not seen");
  } else if (!info->reason.empty()) {
    notes.push_back(who + ": " + info->reason);
  }
}

}  // namespace

RunSummary summarize(const JobProgress& progress, const RunFigures& figures,
                     const std::vector<const GpuWatch*>& gpus) {
  RunSummary summary;
  summary.figures = figures;
  const ProcessProgress* main = progress.main_process();
  for (const auto& process : progress.processes()) {
    const auto at = process.get() == main ? summary.processes.begin() : summary.processes.end();
    summary.processes.insert(at, report_on(*process, figures));
    note_process(*process, summary.notes);
  }
  if (const JobProgress::Forgotten& rest = progress.forgotten(); rest.processes > 0) {
    summary.notes.push_back(
        fmt::format("{} more processes that ended are not listed; they made {} launches",
                    rest.processes, rest.launches));
  }
  for (const GpuWatch* gpu : gpus) {
    GpuReport report;
    report.device = gpu->name().device;
    if (gpu->opened()) {
      report.uuid = gpu->identity().uuid.text();
      report.name = gpu->identity().name;
      report.energy = figures.energy(gpu->identity().uuid);
    }
    if (gpu->problem()) report.problem = gpu->problem()->line();
    summary.gpus.push_back(std::move(report));
  }
  if (progress.processes().empty()) {
    summary.notes.emplace_back("no process of the job was seen to use CUDA or ticks");
  }
  return summary;
}

}  // namespace hypermile
