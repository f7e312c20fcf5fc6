// SPDX-License-Identifier: Apache-2.0
#include "trial/run_log.h"

#include <fmt/format.h>

#include "record/machine_facts.h"
#include "sim/sim_gpu.h"
#include "sim/steady_state.h"
#include "trial/judge/truth.h"

namespace hypermile {
namespace {

// `setting` need not be a point of the truth: a Controller offers what the card lists below the
// clock that it has seen at the default.
Outcome true_outcome(const SimulatedJob& job, const Curve& truth, const Setting& setting) {
  Curve curve = truth;
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    if (curve.points[i].setting == setting) return outcome_of(curve, i, job.objective);
  }
  const SteadyState state = steady_state(job.sheet.constants, job.workload.load, setting,
                                         card_of(job.sheet, job.seed), job.effects);
  curve.points.push_back({setting, state.time, state.power, state.sm_clock, 1});
  return outcome_of(curve, curve.points.size() - 1, job.objective);
}

}  // namespace

Result<void> log_start(EventLog& log, const SimulatedJob& job, std::string_view policy,
                       const GpuIdentity& gpu, const Clock& clock) {
  RunStart start = describe_run(clock, {"hypermile", "simulate"}, {gpu});
  // Equal jobs write equal logs, so nothing of this machine is in them.
  start.run = RunId(fmt::format("{}-{}-{}-{}", job.sheet.key, job.workload.key, policy, job.seed));
  start.environment = {{"simulated", "true"},
                       {"gpu", job.sheet.key},
                       {"workload", job.workload.key},
                       {"policy", std::string(policy)},
                       {"seed", fmt::format("{}", job.seed)}};
  start.environment.merge(describe(job.objective));
  return log.append(std::move(start));
}

Result<void> log_end(EventLog& log, const SimulatedJob& job, const Curve& truth, const GpuUuid& gpu,
                     const PlayedTotals& totals) {
  const std::size_t best = best_point(truth, job.objective);
  const Outcome best_outcome = outcome_of(truth, best, job.objective);
  double time = 0, energy = 0;
  for (const SettingShare& one : totals.kept) {
    const Outcome there = true_outcome(job, truth, one.setting);
    time += one.share * there.time_ratio;
    energy += one.share * there.time_ratio * there.power_ratio;
  }
  const double saved = saved_share(job.objective, time, energy / time, truth.default_point().power);
  RETURN_IF_ERROR(log.append(Decision{gpu,
                                      "truth",
                                      truth.points[best].setting,
                                      "the best setting, which only the simulator knows",
                                      std::nullopt,
                                      {}}));
  std::map<std::string, double> sums = {
      {"seconds", totals.elapsed.value()},
      {"iterations", totals.iterations},
      {"true_final_saved", saved},
      {"true_final_slowdown", time - 1},
      {"true_best_saved", best_outcome.saved()},
      {"true_best_energy_change", best_outcome.time_ratio * best_outcome.power_ratio - 1},
      {"true_best_slowdown", best_outcome.slowdown()}};
  if (totals.energy) sums["joules"] = totals.energy->value();
  if (const auto bound = effective_bound(job.objective)) sums["bound"] = *bound;
  return log.append(
      RunEnd{0, totals.interrupted ? "interrupted" : "the job is done", std::move(sums)});
}

}  // namespace hypermile
