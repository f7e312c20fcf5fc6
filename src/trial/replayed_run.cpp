// SPDX-License-Identifier: Apache-2.0
#include "trial/replayed_run.h"

#include <utility>

#include "policy/policies.h"
#include "trial/replayed_training.h"
#include "trial/virtual_rig.h"

namespace hypermile {
namespace {

// The Controller takes two seconds to let a setting settle and to learn that a window has ended.
// These are the five iterations that a change of setting costs in replay().
constexpr Seconds kIteration = Seconds(0.4);

class ReplayedRun {
 public:
  ReplayedRun(const Curve& curve, std::string_view policy, const Conditions& conditions,
              std::uint64_t seed)
      : curve_(curve), policy_(policy), conditions_(conditions), seed_(seed) {}

  Result<RunResult> run() {
    ASSIGN_OR_RETURN(const auto training,
                     ReplayedTraining::start(clock_, curve_, replay_options()));
    VirtualRig rig(clock_, *training, terms());
    while (training->iterations() < conditions_.iterations) {
      const double before = training->iterations();
      const std::optional<Setting> told = rig.told();
      rig.step();
      count(training->iterations() - before, told.value_or(Setting()));
    }
    rig.finish();
    return score(rig.controller().summary(), training->iterations());
  }

 private:
  ReplayOptions replay_options() const {
    ReplayOptions options;
    options.time_noise = conditions_.time_noise;
    options.power_noise = conditions_.power_noise;
    options.drift = conditions_.drift;
    options.drift_period = conditions_.drift_period * kIteration;
    options.iteration = kIteration;
    options.seed = seed_;
    return options;
  }

  RigTerms terms() const {
    ControllerOptions control;
    control.policy = policy_;
    // Policies of others are played as their authors have them, unless they are to be guarded.
    control.guard = conditions_.guard || policy_ == "hypermile";
    control.objective = conditions_.objective;
    control.steady = conditions_.steady;
    if (conditions_.tell_length) control.job_iterations = conditions_.iterations;
    for (const CurvePoint& point : curve_.points) control.settings.push_back(point.setting);
    control.seed = seed_;
    return {.control = std::move(control),
            .make_policy = [this](const PhaseFacts&, PolicyContext context) {
              const PolicyContext judge = context_for(curve_, conditions_, seed_);
              context.oracle = judge.oracle;
              // A sweep's default clock is known from its rows; the sensor shows the same.
              context.default_values = judge.default_values;
              return make_policy(policy_, context);
            }};
  }

  // What the iterations of one round truly took and cost at the setting in force.
  void count(double iterations, const Setting& setting) {
    const CurvePoint* in_force = find_point(curve_, setting);
    const CurvePoint& point = in_force != nullptr ? *in_force : curve_.default_point();
    time_ += point.time * iterations;
    energy_ += point.power * (point.time * iterations);
  }

  RunResult score(const ControlSummary& summary, double iterations) const {
    RunResult result;
    result.key = curve_.key;
    std::vector<double> kept(curve_.points.size(), 0);
    kept[0] = 1;
    if (!summary.phases.empty()) {
      const PhaseControl& phase = summary.phases.front();
      result.probes = phase.probes;
      result.settings_visited = phase.measured.size();
      const std::vector<SettingShare> one = {{phase.kept, 1}};
      for (std::size_t i = 0; i < curve_.points.size(); ++i) {
        kept[i] = 0;
        for (const SettingShare& share : phase.shares.empty() ? one : phase.shares) {
          if (curve_.points[i].setting == share.setting) kept[i] = share.share;
        }
      }
    }
    const CurvePoint& base = curve_.default_point();
    score_job(curve_, conditions_.objective, time_ / (base.time * iterations),
              energy_ / time_ / base.power, kept, result);
    return result;
  }

  const Curve& curve_;
  std::string policy_;
  const Conditions& conditions_;
  std::uint64_t seed_;
  VirtualClock clock_;
  Seconds time_;
  Joules energy_;
};

}  // namespace

Result<RunResult> replay_controlled(const Curve& curve, std::string_view policy, std::size_t repeat,
                                    const Conditions& conditions) {
  const std::uint64_t seed = replay_seed(curve, policy, repeat, conditions);
  ASSIGN_OR_RETURN(RunResult result, ReplayedRun(curve, policy, conditions, seed).run());
  result.policy = policy;
  result.repeat = repeat;
  return result;
}

}  // namespace hypermile
