// SPDX-License-Identifier: Apache-2.0
#include "policy/slice_view.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

// No probe further below the lowest one so far.
constexpr double kLongestJump = 0.65;
constexpr double kLowestProbe = 0.4;
// Of what the job may lose, kept for probes that cost more than was expected of them.
constexpr double kJobReserve = 0.09;
// What a Setting's own windows must say of keeping the bound, or it is forbidden.
constexpr double kForbidBelow = 0.85;
constexpr double kOldest = 10;  // baselines older than so many drift times all weigh the same
// A baseline older than so many windows is renewed in a job that wanders as usual: sooner where it
// wanders more, later where it stands still.
constexpr double kStaleAfter = 170;
constexpr double kStaleSoonest = 60;
constexpr double kStaleLatest = 400;

double normal_cdf(double x) {
  return 0.5 * std::erfc(-x * 0.70710678118654752);
}

// Under this clock ratio nothing is probed yet.
double probe_floor(const Posterior& posterior, const Observations& seen) {
  double lowest = 0;
  for (const Block& block : seen.blocks()) {
    const auto& points = posterior.slice().points;
    const auto point = std::ranges::find(points, block.setting, &Candidate::setting);
    if (point != points.end()) lowest = std::min(lowest, point->position);
  }
  return std::max(kLowestProbe, kLongestJump * std::exp(lowest));
}

// The model may be wrong: where a Setting has been measured often enough, its windows alone can
// forbid it.
void guard(SliceView& view, const Posterior& posterior, const Observations& seen) {
  if (!std::isfinite(view.bound)) return;
  const auto& points = posterior.slice().points;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (view.windows[i] < kEnoughToForbid) continue;
    double excess = 0;
    for (const Block& block : seen.blocks()) {
      if (block.setting != points[i].setting) continue;
      double level = 0;
      double weight = 0;
      for (const Block& base : seen.blocks()) {
        if (base.setting != 0) continue;
        const double apart = std::abs(base.at - block.at) / DriftModel{}.iterations;
        const double near = std::exp(-std::min(apart, kOldest));
        level += base.windows * near * base.log_time;
        weight += base.windows * near;
      }
      excess += block.windows / view.windows[i] * (block.log_time - level / weight);
    }
    const double sampling = view.noise.time * std::sqrt(1 / view.windows[i] + 1 / view.windows[0]);
    const double q =
        normal_cdf((std::log1p(view.bound) - excess) / std::hypot(sampling, 0.3 * DriftModel{}.sd));
    if (q < kForbidBelow) view.beliefs[i].safe = std::min(view.beliefs[i].safe, q);
  }
}

}  // namespace

std::optional<SliceView> look(const Posterior& posterior, const PolicyContext& context,
                              const Observations& seen, const JobState& job) {
  SliceView view;
  view.noise = seen.noise();
  view.floor = probe_floor(posterior, seen);
  auto beliefs = posterior.believe(seen.blocks(), view.noise, context.objective, job.default_power,
                                   view.floor);
  if (!beliefs) return std::nullopt;
  view.beliefs = std::move(*beliefs);
  const auto& points = posterior.slice().points;
  view.windows.assign(points.size(), 0);
  view.bound = effective_bound(context.objective).value_or(INFINITY);
  view.slack =
      (1 - kJobReserve) * std::min(target_bound(context.objective).value_or(1e6), 1e6) * job.length;
  view.remaining = std::max(job.length - job.done, context.window_iterations);
  double baseline_at = 0;
  double fastest = INFINITY;
  for (const Block& block : seen.blocks()) {
    const auto point = std::ranges::find(points, block.setting, &Candidate::setting);
    const double iterations = block.windows * context.window_iterations + context.settle_iterations;
    view.since_baseline = block.setting == 0 ? 0 : view.since_baseline + block.windows;
    if (block.setting == 0) {
      fastest = std::min(fastest, block.log_time);
      view.baseline_slower = block.log_time - fastest;
      view.windows[0] += block.windows;
      view.baseline_stays += view.windows[0] == block.windows || view.baseline_age > 0;
      view.baseline_age = 0;
      baseline_at = block.at;
      continue;
    }
    view.baseline_age = block.at - baseline_at;
    double slowdown = std::exp(block.log_time) / job.default_time.value() - 1;
    if (point != points.end()) {
      const auto i = static_cast<std::size_t>(point - points.begin());
      view.windows[i] += block.windows;
      view.probed += block.windows;
      if (std::exp(points[i].position) < view.lowest) {
        view.lowest = std::exp(points[i].position);
        view.lowest_slowdown = std::max(0.0, view.beliefs[i].slowdown);
      }
      slowdown = view.beliefs[i].slowdown;
    }
    view.slack -= std::max(0.0, slowdown) * iterations;
  }
  if (job.loss) {
    const double left = (1 - kJobReserve) *
                            std::min(target_bound(context.objective).value_or(1e6), 1e6) *
                            job.loss->job -
                        job.loss->lost;
    view.slack = std::min(view.slack, left);
    view.remaining = std::max(job.loss->job - job.loss->done, context.window_iterations);
  }
  view.default_too_strong = view.beliefs[0].safe_power < 0.5;
  if (view.default_too_strong) view.beliefs[0].score = INFINITY;
  view.wander = estimate_drift(seen.blocks(), view.noise).sd;
  view.stale_after =
      std::clamp(kStaleAfter * DriftModel{}.sd / view.wander, kStaleSoonest, kStaleLatest);
  guard(view, posterior, seen);
  return view;
}

}  // namespace hypermile
