// SPDX-License-Identifier: Apache-2.0
#include "simulate/simulated_run.h"

#include <fmt/format.h>

#include "base/random.h"
#include "judge/conditions.h"
#include "judge/truth.h"
#include "policy/policies.h"
#include "record/environment.h"
#include "sim/oracle.h"
#include "simulate/bench.h"

namespace hypermile {
namespace {

PolicyContext context_for(const SimulatedJob& job, const Curve& truth, const WindowPlan& plan,
                          const Setting& default_values) {
  PolicyContext context;
  for (const CurvePoint& point : truth.points) context.settings.push_back(point.setting);
  context.objective = job.objective;
  context.job_iterations = static_cast<double>(job.iterations);
  context.window_iterations = plan.window_iterations;
  context.settle_iterations = plan.settle_iterations;
  context.default_values = default_values;
  context.oracle = best_point(truth, job.objective);
  // Policies that start from a prediction get one as good as published predictors, as in
  // `evaluate`.
  Random random(derive_seed(job.seed, "predictor"));
  context.predicted = predicted_point(truth, *context.oracle, Conditions().predictor_error, random);
  context.seed = job.seed;
  return context;
}

class Player {
 public:
  Player(const SimulatedJob& job, const Curve& truth, std::string_view policy,
         std::unique_ptr<LineSink> sink, const WindowListener& listener)
      : job_(job),
        truth_(truth),
        name_(policy),
        bench_(job),
        log_(std::move(sink), bench_.clock()),
        listener_(listener),
        uuid_(bench_.gpu().identity().uuid) {}

  Result<void> run(const std::stop_token& stop) {
    RETURN_IF_ERROR(log_start());
    RETURN_IF_ERROR(bench_.start());
    const Result<WindowPlan> plan = bench_.watch();
    // What cannot be measured is not optimised: the job runs to its end at the default.
    if (!plan && plan.error().code == ErrorCode::kNotReady) return run_unseen(plan.error(), stop);
    if (!plan) return plan.error();
    PolicyContext context = context_for(job_, truth_, *plan, bench_.default_values());
    if (context.job_iterations) *context.job_iterations *= bench_.counted_per_iteration();
    ASSIGN_OR_RETURN(const auto policy, make_policy(name_, context));
    while (bench_.gpu().running() && !stop.stop_requested()) {
      const Step step = policy->next();
      if (step.setting >= truth_.points.size()) {
        return Error{ErrorCode::kInternal, fmt::format("the policy asked for Setting {} of {}",
                                                       step.setting, truth_.points.size())};
      }
      RETURN_IF_ERROR(take(step));
      ASSIGN_OR_RETURN(const auto window, bench_.measure(setting(), step));
      if (!window) break;
      RETURN_IF_ERROR(log_.append(WindowEvent{uuid_, *window}));
      if (listener_) listener_({name_, *window, progress(), step.exploring});
      policy->observe(*window);
    }
    return log_end(stop.stop_requested());
  }

 private:
  const Setting& setting() const { return truth_.points[current_].setting; }
  double progress() { return bench_.gpu().iterations() / static_cast<double>(job_.iterations); }

  Result<void> run_unseen(const Error& why, const std::stop_token& stop) {
    RETURN_IF_ERROR(log_.append(Decision{uuid_, name_, setting(), why.message, std::nullopt, {}}));
    RETURN_IF_ERROR(bench_.finish(stop));
    return log_end(stop.stop_requested());
  }

  Result<void> log_start() {
    RunStart start =
        describe_run(bench_.clock(), {"hypermile", "simulate"}, {bench_.gpu().identity()});
    // Equal jobs write equal logs: what differs from machine to machine stays out.
    start.run =
        RunId(fmt::format("{}-{}-{}-{}", job_.sheet.key, job_.workload.key, name_, job_.seed));
    start.environment = {{"simulated", "true"},
                         {"gpu", job_.sheet.key},
                         {"workload", job_.workload.key},
                         {"policy", name_},
                         {"seed", fmt::format("{}", job_.seed)},
                         {"objective", to_string(job_.objective)},
                         {"host_watts", fmt::format("{}", job_.objective.host_power.value())}};
    return log_.append(std::move(start));
  }

  // Applies the Step's Setting where it is a new one, and writes down what was decided.
  Result<void> take(const Step& step) {
    const bool moved = step.setting != current_;
    if (moved || !decided_ || step.exploring != exploring_) {
      RETURN_IF_ERROR(log_.append(Decision{uuid_,
                                           name_,
                                           truth_.points[step.setting].setting,
                                           step.reason,
                                           step.confidence,
                                           {{"exploring", step.exploring ? 1.0 : 0.0}}}));
    }
    decided_ = true;
    exploring_ = step.exploring;
    if (!exploring_ || !held_) kept_ = step.setting;
    held_ = held_ || !exploring_;
    if (!moved) return {};
    current_ = step.setting;
    RETURN_IF_ERROR(bench_.change_to(setting()));
    ASSIGN_OR_RETURN(const Sample sample, bench_.gpu().read(Sensor::kClocks | Sensor::kPowerLimit));
    return log_.append(SettingChange{uuid_, setting(), true, "", sample.sm_clock,
                                     sample.memory_clock, sample.power_limit});
  }

  Result<void> log_end(bool stopped) {
    const std::size_t best = best_point(truth_, job_.objective);
    const Outcome best_outcome = outcome_of(truth_, best, job_.objective);
    const Outcome kept = outcome_of(truth_, kept_, job_.objective);
    RETURN_IF_ERROR(log_.append(Decision{uuid_,
                                         "truth",
                                         truth_.points[best].setting,
                                         "the best Setting, known to the simulator alone",
                                         std::nullopt,
                                         {}}));
    std::map<std::string, double> totals = {
        {"seconds", bench_.elapsed().value()},
        {"iterations", bench_.gpu().iterations()},
        {"true_final_saved", kept.saved()},
        {"true_final_slowdown", kept.slowdown()},
        {"true_best_saved", best_outcome.saved()},
        {"true_best_energy_change", best_outcome.time_ratio * best_outcome.power_ratio - 1},
        {"true_best_slowdown", best_outcome.slowdown()}};
    if (const auto energy = bench_.energy()) totals["joules"] = energy->value();
    if (const auto bound = effective_bound(job_.objective)) totals["bound"] = *bound;
    return log_.append(RunEnd{0, stopped ? "interrupted" : "the job is done", totals});
  }

  const SimulatedJob& job_;
  const Curve& truth_;
  std::string name_;
  Bench bench_;
  EventLog log_;
  const WindowListener& listener_;
  GpuUuid uuid_;
  std::size_t current_ = 0;
  std::size_t kept_ = 0;  // the last Setting held; of a policy that never held one, the last tried
  bool decided_ = false;
  bool exploring_ = false;
  bool held_ = false;
};

}  // namespace

Curve truth_of(const SimulatedJob& job) {
  const SimGpuState card = make_sim_gpu(job.sheet.physics, job.seed, job.effects);
  return true_curve(job.sheet, job.workload, job.knobs, card.card, job.effects);
}

Result<void> play(const SimulatedJob& job, const Curve& truth, std::string_view policy,
                  std::unique_ptr<LineSink> sink, const WindowListener& listener,
                  std::stop_token stop) {
  return Player(job, truth, policy, std::move(sink), listener).run(stop);
}

}  // namespace hypermile
