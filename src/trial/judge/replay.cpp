// SPDX-License-Identifier: Apache-2.0
#include "trial/judge/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "base/random.h"
#include "policy/bound_guard.h"
#include "policy/job_ledger.h"
#include "policy/policies.h"

namespace hypermile {
namespace {

// The least measured mean, as a share of the truth, whatever the noise.
constexpr double kLeastMean = 0.05;
// Iterations that a job of unknown length is taken to last at least.
constexpr double kLeastGuess = 2000;

// The running job: its time and energy so far, and its current point on the curve.
class Job {
 public:
  Job(const Curve& curve, const Conditions& conditions, std::uint64_t seed)
      : curve_(curve),
        conditions_(conditions),
        random_(derive_seed(seed, "noise")),
        phase_(2 * std::numbers::pi * random_.uniform()),
        ledger_(curve.points.size(), conditions.window_iterations, conditions.follow_pace) {}

  // The ledger with the job's length set: the true length, or a guess from what has run.
  const JobLedger& account() {
    const double guessed = std::max(2 * done_, kLeastGuess);
    const double job = conditions_.tell_length ? conditions_.iterations : guessed;
    ledger_.set_job(job, job);
    return ledger_;
  }

  // Whether the time lost so far forces the default now.
  bool guarded() {
    const auto bound = effective_bound(conditions_.objective);
    if (!conditions_.guard || !bound || !ledger_.knows_default()) return false;
    account();
    earning_back_ =
        near_bound(lost_time(ledger_, ledger_.default_time(), true), *bound, earning_back_);
    return earning_back_;
  }

  double remaining() const { return std::floor(conditions_.iterations) - done_; }
  double done() const { return done_; }
  std::size_t current() const { return current_; }

  void change_to(std::size_t point) {
    if (point == current_) return;
    current_ = point;
    const double settle = std::min(conditions_.settle_iterations, remaining());
    Seconds took;
    for (int i = 0; i < static_cast<int>(settle); ++i) took += run_one();
    ledger_.pass(point != 0, std::floor(settle), took);
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
      if (step.aborts(n, seen / n) && n < length) {
        window.aborted = true;
        break;
      }
    }
    fill(window, n, truth, seen);
    ledger_.pass(current_ != 0, n, truth);
    ledger_.add(current_, window, step.expected);
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
  JobLedger ledger_;
  bool earning_back_ = false;
  std::size_t current_ = 0;
  double done_ = 0;
  Seconds time_;
  Seconds default_time_;
  Joules energy_;
};

}  // namespace

void score_job(const Curve& curve, const Objective& objective, double time_ratio,
               double power_ratio, std::span<const double> kept, RunResult& result) {
  const Watts usual = curve.default_point().power;
  result.oracle_saved = outcome_of(curve, best_point(curve, objective), objective).saved();
  result.saved = saved_share(objective, time_ratio, power_ratio, usual);
  result.slowdown = time_ratio - 1;
  double all = 0, time = 0, energy = 0;
  for (std::size_t point = 0; point < kept.size(); ++point) {
    if (kept[point] <= 0) continue;
    const Outcome here = outcome_of(curve, point, objective);
    all += kept[point];
    time += kept[point] * here.time_ratio;
    energy += kept[point] * here.time_ratio * here.power_ratio;
    result.kept.push_back({curve.points[point].setting, kept[point]});
  }
  for (SettingShare& one : result.kept) one.share /= all;
  std::ranges::stable_sort(result.kept, std::greater{}, &SettingShare::share);
  time /= all;
  energy /= all;
  result.final_saved = saved_share(objective, time, energy / time, usual);
  result.final_slowdown = time - 1;
  if (const auto bound = effective_bound(objective)) {
    result.violated_job = result.slowdown > *bound + kBoundEpsilon;
    result.violated_final = result.final_slowdown > *bound + kBoundEpsilon;
    result.violated_final_half_point = result.final_slowdown > *bound + 0.005 + kBoundEpsilon;
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
  context.steady = conditions.steady;
  context.window_iterations = conditions.window_iterations;
  context.settle_iterations = conditions.settle_iterations;
  context.default_values = curve.default_values;
  context.oracle = best_point(curve, conditions.objective);
  context.seed = seed;
  return context;
}

Result<RunResult> replay(const Curve& curve, Policy& policy, const Conditions& conditions,
                         std::uint64_t seed) {
  Job job(curve, conditions, seed);
  RunResult result;
  result.key = curve.key;
  std::vector<bool> visited(curve.points.size(), false);
  std::vector<double> kept(curve.points.size(), 0);
  while (job.remaining() >= 1) {
    if (job.guarded()) {  // the policy does not hear of it
      job.change_to(0);
      if (job.remaining() >= 1) job.measure({.iterations = conditions.window_iterations});
      continue;
    }
    policy.account(job.account());
    const Step step = policy.next();
    if (step.setting >= curve.points.size()) {
      return Error{ErrorCode::kInternal, fmt::format("the policy chose setting {} of {}",
                                                     step.setting, curve.points.size())};
    }
    job.change_to(step.setting);
    visited[step.setting] = true;
    if (step.exploring) ++result.probes;
    if (job.remaining() < 1) break;
    if (!step.exploring && !result.held_after) result.held_after = job.done();
    const Window window = job.measure(step);
    if (window.aborted) ++result.aborts;
    if (!step.exploring) {
      kept.assign(kept.size(), 0);
      kept[step.setting] = 1;
      for (const StepShare& one : step.shares) kept[one.setting] = one.share;
    }
    policy.observe(window);
  }
  // Where all were probes, the last one is what is kept.
  if (std::ranges::none_of(kept, [](double share) { return share > 0; })) kept[job.current()] = 1;
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
