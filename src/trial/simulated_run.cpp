// SPDX-License-Identifier: Apache-2.0
#include "trial/simulated_run.h"

#include <fmt/format.h>

#include "base/random.h"
#include "control/forecast_event.h"
#include "policy/policies.h"
#include "sim/steady_state.h"
#include "trial/bench.h"
#include "trial/controlled_run.h"
#include "trial/judge/conditions.h"
#include "trial/judge/truth.h"
#include "trial/run_log.h"

namespace hypermile {
namespace {

PolicyContext context_for(const SimulatedJob& job, const Curve& truth, const StepPlan& plan,
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
    RETURN_IF_ERROR(log_start(log_, job_, name_, bench_.gpu().identity(), bench_.clock()));
    RETURN_IF_ERROR(bench_.start());
    ASSIGN_OR_RETURN(const StepPlan plan, bench_.watch());
    const PolicyContext context = context_for(job_, truth_, plan, bench_.default_values());
    ASSIGN_OR_RETURN(const auto policy, make_policy(name_, context));
    while (bench_.gpu().running() && !stop.stop_requested()) {
      const Step step = policy->next();
      if (step.setting >= truth_.points.size()) {
        return Error{ErrorCode::kInternal, fmt::format("the policy asked for Setting {} of {}",
                                                       step.setting, truth_.points.size())};
      }
      RETURN_IF_ERROR(take(step, *policy, context.settings));
      ASSIGN_OR_RETURN(const auto window, bench_.measure(setting(), step));
      if (!window) break;
      RETURN_IF_ERROR(log_.append(WindowEvent{uuid_, *window}));
      if (listener_) listener_({name_, *window, progress(), step.exploring});
      policy->observe(*window);
    }
    return finish(stop.stop_requested());
  }

 private:
  const Setting& setting() const { return truth_.points[current_].setting; }
  double progress() { return bench_.gpu().iterations() / static_cast<double>(job_.iterations); }

  // Applies the Step's Setting where it is a new one, and writes down what was decided.
  Result<void> take(const Step& step, const Policy& policy, std::span<const Setting> settings) {
    const bool moved = step.setting != current_;
    const bool fresh = moved || !decided_ || step.exploring != exploring_;
    if (fresh) {
      RETURN_IF_ERROR(log_.append(Decision{uuid_,
                                           name_,
                                           truth_.points[step.setting].setting,
                                           step.reason,
                                           step.confidence,
                                           {{"exploring", step.exploring ? 1.0 : 0.0}}}));
    }
    if (fresh && !(step.exploring && forecast_)) {
      RETURN_IF_ERROR(write_forecast(policy, settings, step.exploring));
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

  Result<void> write_forecast(const Policy& policy, std::span<const Setting> settings,
                              bool exploring) {
    auto forecast = forecast_of(policy, settings, name_, exploring);
    if (!forecast) return {};
    forecast_ = true;
    forecast->gpu = uuid_;
    return log_.append(*std::move(forecast));
  }

  Result<void> finish(bool stopped) {
    return log_end(log_, job_, truth_, uuid_,
                   {.elapsed = bench_.elapsed(),
                    .iterations = bench_.gpu().iterations(),
                    .energy = bench_.energy(),
                    .interrupted = stopped,
                    .kept = truth_.points[kept_].setting});
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
  bool forecast_ = false;  // written since the search began
};

}  // namespace

Curve truth_of(const SimulatedJob& job) {
  const SimGpuState card = make_sim_gpu(job.sheet.constants, job.seed, job.effects);
  return true_curve(job.sheet, job.workload, job.knobs, card.card, job.effects);
}

Result<void> play(const SimulatedJob& job, const Curve& truth, std::string_view policy,
                  std::unique_ptr<LineSink> sink, const WindowListener& listener,
                  std::stop_token stop) {
  const bool judged = policy == "default" || policy == "oracle";
  if (job.progress == ProgressKind::kLaunches && !judged) {
    RETURN_IF_ERROR(play_controlled(job, truth, policy, std::move(sink), stop, listener));
    return {};
  }
  return Player(job, truth, policy, std::move(sink), listener).run(stop);
}

}  // namespace hypermile
