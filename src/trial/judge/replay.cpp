// SPDX-License-Identifier: Apache-2.0
#include "trial/judge/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/random.h"
#include "policy/policies.h"

namespace hypermile {
namespace {

// The least measured mean, as a share of the truth, whatever the noise.
constexpr double kLeastMean = 0.05;

// The running job: its time and energy so far, and its current point on the curve.
class Job {
 public:
  Job(const Curve& curve, const Conditions& conditions, std::uint64_t seed)
      : curve_(curve),
        conditions_(conditions),
        random_(derive_seed(seed, "noise")),
        phase_(2 * std::numbers::pi * random_.uniform()) {}

  double remaining() const { return std::floor(conditions_.iterations) - done_; }
  std::size_t current() const { return current_; }

  void change_to(std::size_t point) {
    if (point == current_) return;
    current_ = point;
    const double settle = std::min(conditions_.settle_iterations, remaining());
    for (int i = 0; i < static_cast<int>(settle); ++i) run_one();
  }

  Window measure(const Step& step) {
    Window window;
    window.setting = curve_.points[current_].setting;
    window.begin = Instant{} + time_;
    window.first_iteration = done_;
    const double wanted = std::isfinite(step.iterations) ? std::round(step.iterations) : 1;
    const double length = std::clamp(wanted, 1.0, remaining());
    const double spread = conditions_.time_noise * std::sqrt(conditions_.window_iterations);
    Seconds truth;
    Seconds seen;
    double n = 0;
    while (n < length) {
      const Seconds one = run_one();
      truth += one;
      seen += one * (1 + spread * random_.gaussian());
      ++n;
      if (step.abort_above && n >= step.abort_after && seen / n > *step.abort_above && n < length) {
        window.aborted = true;
        break;
      }
    }
    fill(window, n, truth, seen);
    return window;
  }

  Seconds time() const { return time_; }
  Joules energy() const { return energy_; }
  Seconds default_time() const { return default_time_; }

 private:
  // Runs one iteration at the current point and returns its true time.
  Seconds run_one() {
    double drift = 1;
    if (conditions_.drift != 0) {
      drift += conditions_.drift *
               std::sin(2 * std::numbers::pi * done_ / conditions_.drift_period + phase_);
    }
    const CurvePoint& here = curve_.points[current_];
    const Seconds one = here.time * drift;
    time_ += one;
    energy_ += here.power * one;
    default_time_ += curve_.default_point().time * drift;
    ++done_;
    return one;
  }

  void fill(Window& window, double n, Seconds truth, Seconds seen) {
    window.iterations = n;
    window.duration = truth;
    window.time_per_iteration = std::max(seen, kLeastMean * truth) / n;
    const CurvePoint& here = curve_.points[current_];
    const double off =
        conditions_.power_noise * std::sqrt(conditions_.window_iterations / n) * random_.gaussian();
    window.power = here.power * std::max(1 + off, kLeastMean);
    window.energy = *window.power * (*window.time_per_iteration * n);
    window.sm_clock = here.sm_seen;
    if (!window.sm_clock) window.sm_clock = here.setting.sm_clock;
    if (!window.sm_clock) window.sm_clock = curve_.default_values.sm_clock;
  }

  const Curve& curve_;
  const Conditions& conditions_;
  Random random_;
  double phase_;
  std::size_t current_ = 0;
  double done_ = 0;
  Seconds time_;
  Seconds default_time_;
  Joules energy_;
};

}  // namespace

void score_job(const Curve& curve, const Objective& objective, double time_ratio,
               double power_ratio, std::size_t kept, RunResult& result) {
  result.oracle_saved = outcome_of(curve, best_point(curve, objective), objective).saved();
  result.saved = 1 - score(objective, time_ratio, power_ratio, curve.default_point().power);
  result.slowdown = time_ratio - 1;
  const Outcome last = outcome_of(curve, kept, objective);
  result.final_setting = curve.points[kept].setting;
  result.final_saved = last.saved();
  result.final_slowdown = last.slowdown();
  if (const auto bound = effective_bound(objective)) {
    result.violated_job = result.slowdown > *bound + kBoundEpsilon;
    result.violated_final = !last.within_bound;
    result.violated_final_half_point = last.slowdown() > *bound + 0.005 + kBoundEpsilon;
  }
}

std::uint64_t replay_seed(const Curve& curve, std::string_view policy, std::size_t repeat,
                          const Conditions& conditions) {
  const std::string stream = fmt::format("{}|{}|{}", to_string(curve.key), policy, repeat);
  return derive_seed(conditions.seed, stream.c_str());
}

PolicyContext context_for(const Curve& curve, const Conditions& conditions, std::uint64_t seed) {
  PolicyContext context;
  for (const CurvePoint& point : curve.points) context.settings.push_back(point.setting);
  context.objective = conditions.objective;
  if (conditions.tell_length) context.job_iterations = conditions.iterations;
  context.window_iterations = conditions.window_iterations;
  context.settle_iterations = conditions.settle_iterations;
  context.default_values = curve.default_values;
  context.oracle = best_point(curve, conditions.objective);
  Random random(derive_seed(seed, "predictor"));
  context.predicted = predicted_point(curve, *context.oracle, conditions.predictor_error, random);
  context.prior_without = curve.key.gpu;
  context.seed = seed;
  return context;
}

Result<RunResult> replay(const Curve& curve, Policy& policy, const Conditions& conditions,
                         std::uint64_t seed) {
  Job job(curve, conditions, seed);
  RunResult result;
  result.key = curve.key;
  std::vector<bool> visited(curve.points.size(), false);
  std::size_t kept = 0;
  bool held = false;
  while (job.remaining() >= 1) {
    const Step step = policy.next();
    if (step.setting >= curve.points.size()) {
      return Error{ErrorCode::kInternal, fmt::format("the policy chose setting {} of {}",
                                                     step.setting, curve.points.size())};
    }
    job.change_to(step.setting);
    visited[step.setting] = true;
    if (step.exploring) ++result.probes;
    // The kept setting is the last one that was not a probe, or the last probe where all were
    // probes.
    if (!step.exploring || !held) kept = step.setting;
    held = held || !step.exploring;
    if (job.remaining() < 1) break;
    const Window window = job.measure(step);
    if (window.aborted) ++result.aborts;
    policy.observe(window);
  }
  visited[0] = false;
  result.settings_visited = static_cast<std::size_t>(std::ranges::count(visited, true));
  score_job(curve, conditions.objective, job.time() / job.default_time(),
            job.energy() / job.time() / curve.default_point().power, kept, result);
  return result;
}

Result<RunResult> replay(const Curve& curve, std::string_view policy, std::size_t repeat,
                         const Conditions& conditions) {
  const std::uint64_t seed = replay_seed(curve, policy, repeat, conditions);
  ASSIGN_OR_RETURN(const auto made, make_policy(policy, context_for(curve, conditions, seed)));
  ASSIGN_OR_RETURN(RunResult result, replay(curve, *made, conditions, seed));
  result.policy = policy;
  result.repeat = repeat;
  return result;
}

}  // namespace hypermile
