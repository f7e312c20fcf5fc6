// SPDX-License-Identifier: Apache-2.0
#include "trial/replayed_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>

#include "base/random.h"
#include "control/controller.h"
#include "control/direct_port.h"
#include "control/session.h"
#include "policy/policies.h"
#include "sim/replay_gpu.h"
#include "trial/ring_ticks.h"

namespace hypermile {
namespace {

// Settling and hearing of a Window's end take the Controller two seconds: the five iterations that
// a change of Setting costs in replay().
constexpr Seconds kIteration = Seconds(0.4);

class ReplayedJob {
 public:
  ReplayedJob(const Curve& curve, std::string_view policy, const Conditions& conditions,
              std::uint64_t seed)
      : curve_(curve),
        policy_(policy),
        conditions_(conditions),
        seed_(seed),
        gpu_(curve, clock_, options_of(conditions, seed)),
        port_({&gpu_}) {}

  Result<RunResult> run() {
    ASSIGN_OR_RETURN(const auto ticks, RingTicks::make(clock_.now()));
    Controller controller(controller_parts(), controller_options());
    Session session({.clock = clock_,
                     .folder = ticks->folder(),
                     .open_gpu = [this](const DeviceName&) { return open(); },
                     .visible_devices = {},
                     .log = nullptr,
                     .warn = {},
                     .controller = &controller});
    while (done_ < conditions_.iterations) {
      advance(*ticks);
      clock_.sleep_until(session.step());
    }
    session.finish();
    return score(controller.summary());
  }

 private:
  static ReplayOptions options_of(const Conditions& conditions, std::uint64_t seed) {
    ReplayOptions options;
    options.time_noise = conditions.time_noise;
    options.power_noise = conditions.power_noise;
    options.drift = conditions.drift;
    options.drift_period = conditions.drift_period * kIteration;
    options.iteration = kIteration;
    options.seed = seed;
    return options;
  }
  ControllerParts controller_parts() {
    return {.port = port_, .make_policy = [this](const PhaseFacts&, PolicyContext context) {
              const PolicyContext told = context_for(curve_, conditions_, seed_);
              context.oracle = told.oracle;
              context.predicted = told.predicted;
              context.prior_without = told.prior_without;
              // A sweep's default clock is known from its rows; the sensor shows the same.
              context.default_values = told.default_values;
              return make_policy(policy_, context);
            }};
  }
  ControllerOptions controller_options() const {
    ControllerOptions options;
    options.policy = policy_;
    // Others are played as their authors have them.
    options.guard = options.policy == "hypermile";
    options.objective = conditions_.objective;
    if (conditions_.tell_length) options.job_iterations = conditions_.iterations;
    for (const CurvePoint& point : curve_.points) options.settings.push_back(point.setting);
    options.seed = seed_;
    return options;
  }
  std::future<Result<std::shared_ptr<Gpu>>> open() {
    std::promise<Result<std::shared_ptr<Gpu>>> opened;
    opened.set_value(std::shared_ptr<Gpu>(std::shared_ptr<void>(), &gpu_));
    return opened.get_future();
  }

  // Ticks for the whole iterations since the last round, between then and now; and what they truly
  // took and cost at the Setting in force.
  void advance(RingTicks& ticks) {
    const double before = done_;
    const Instant from = now_;
    done_ = gpu_.iterations();
    now_ = clock_.now();
    const double first = std::floor(before) + 1;
    const auto whole = static_cast<int>(std::floor(done_) - std::floor(before));
    for (int i = 0; i < whole; ++i) {
      ticks.tick(from + (now_ - from) * ((first + i - before) / (done_ - before)));
    }
    const auto& told = port_.told();
    const CurvePoint* in_force = told ? find_point(curve_, *told) : nullptr;
    const CurvePoint& point = in_force != nullptr ? *in_force : curve_.default_point();
    time_ += point.time * (done_ - before);
    energy_ += point.power * (point.time * (done_ - before));
  }

  RunResult score(const ControlSummary& summary) const {
    RunResult result;
    result.key = curve_.key;
    std::size_t kept = 0;
    if (!summary.phases.empty()) {
      const PhaseControl& phase = summary.phases.front();
      result.probes = phase.probes;
      result.settings_visited = phase.measured.size();
      for (std::size_t i = 0; i < curve_.points.size(); ++i) {
        if (curve_.points[i].setting == phase.kept) kept = i;
      }
    }
    const CurvePoint& base = curve_.default_point();
    score_job(curve_, conditions_.objective, time_ / (base.time * done_),
              energy_ / time_ / base.power, kept, result);
    return result;
  }

  const Curve& curve_;
  std::string policy_;
  const Conditions& conditions_;
  std::uint64_t seed_;
  VirtualClock clock_;
  ReplayGpu gpu_;
  DirectPort port_;
  double done_ = 0;
  Instant now_;
  Seconds time_;
  Joules energy_;
};

}  // namespace

Result<RunResult> replay_controlled(const Curve& curve, std::string_view policy, std::size_t repeat,
                                    const Conditions& conditions) {
  const std::string stream = fmt::format("{}|{}|{}", to_string(curve.key), policy, repeat);
  ReplayedJob job(curve, policy, conditions, derive_seed(conditions.seed, stream.c_str()));
  ASSIGN_OR_RETURN(RunResult result, job.run());
  result.policy = policy;
  result.repeat = repeat;
  return result;
}

}  // namespace hypermile
