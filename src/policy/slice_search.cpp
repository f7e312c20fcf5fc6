// SPDX-License-Identifier: Apache-2.0
#include "policy/slice_search.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "policy/moved_default.h"

namespace hypermile {
namespace {

// Settle where the bound is kept with this probability, stay while it is kept with the second.
constexpr double kSettleSafety = 0.90;
constexpr double kStaySafety = 0.87;
// Explore from this probability on: clocks, limits.
constexpr double kExploreSafety = 0.15;
constexpr double kLimitExploreSafety = 0.15;
// While holding, go lower from this probability on.
constexpr double kBoldSafety = 0.6;
// Below the first clock less safe than this, all are.
constexpr double kWall = 0.3;
// A prospect is worth a window from this gain in score on; a move, from the second.
constexpr double kWorthAWindow = 0.004;
constexpr double kWorthAMove = 0.002;
// Nothing is done for less than this gain beyond two standard deviations.
constexpr double kWorthDoing = 0.0025;
// How much the probability of keeping the bound weighs in a prospect.
// Less where all points share a known level: a probe far below it teaches most about the slope.
constexpr double kSafetyWeight = 0.7;
constexpr double kOwnLevelSafetyWeight = 1;
// No probe that could cost more than this share of what the job may lose.
constexpr double kRiskShare = 0.1;
// Shorter jobs take a first look near the bound before anything bold.
constexpr double kShortJob = 3000;
// Where the job ends up, as a share of the bound, when nothing is known yet.
constexpr double kLikelyUse = 0.8;
// Default windows: share of the textbook optimum, since the model knows the level too.
constexpr double kBaselineShare = 0.4;
constexpr double kMostBaselines = 40;
constexpr double kAskDefaultAfter = 2;
// How much the speed of a job may have changed by itself after PolicyContext::drift_iterations,
// where the default was seen once only, perhaps in a slow minute; and where it is known to wander
// by more than the last.
constexpr double kMayDriftUnseen = 0.045;
constexpr double kMayDrift = 0.02;
constexpr double kWanders = 0.008;
constexpr double kSlowMinute = 0.015;
constexpr double kSlowMinuteLasts = 0.3;  // of drift_iterations
// What an earlier run remembers holds here if slowdown and score are alike: within so much, and two
// standard deviations. It gets so many windows.
constexpr double kAlikeSlowdown = 0.015;
constexpr double kAlikeScore = 0.025;
constexpr double kRecallWindows = 3;

double plainly_too_slow(const PolicyContext& context) {
  return std::max(0.15, 3 * effective_bound(context.objective).value_or(1));
}

double scatter_of_a_window(const Noise& noise) {
  return 4 * noise.time;
}

}  // namespace

double wanted_baselines(const PolicyContext& context, const Noise& noise, double job_length) {
  const double s = std::max(effective_bound(context.objective).value_or(0.1), 0.01);
  const double per_window = context.window_iterations + context.settle_iterations;
  const double sigma = std::hypot(noise.time, DriftModel{}.sd);
  const double best = std::pow(1.645 * sigma * job_length / (2 * s * per_window), 2.0 / 3);
  return std::clamp(kBaselineShare * best, 2.0, kMostBaselines);
}

// Where a window has thousands of iterations a few of them say nothing: then as many are waited for
// as tell what is plainly too slow from noise.
double iterations_until_cut(const PolicyContext& context, const Noise& noise) {
  const double telling = std::pow(scatter_of_a_window(noise) / plainly_too_slow(context), 2);
  return std::floor(context.window_iterations * std::min(telling, 1.0));
}

void cut_when_too_slow(Step& step, const PolicyContext& context, const Noise& noise,
                       Seconds default_time) {
  step.abort_after = std::max(step.abort_after, iterations_until_cut(context, noise));
  const double noise_then =
      scatter_of_a_window(noise) * std::sqrt(context.window_iterations / step.abort_after);
  step.abort_above = default_time * (1 + std::max(plainly_too_slow(context), noise_then));
}

SliceSearch::SliceSearch(const PolicyContext& context, Posterior posterior, const JobState& job,
                         const Observations& seen, bool recall)
    : context_(context),
      posterior_(std::move(posterior)),
      first_baselines_(seen.windows_at(0)),
      // The first baselines are part of a search's budget; probes of memory clocks and of earlier
      // slices are not.
      explored_before_(static_cast<double>(job.explored) > first_baselines_ ? job.explored : 0) {
  if (recall && context.remembered) recall_ = Recall::kLooking;
}

std::size_t SliceSearch::choose(const SliceView& view, double safety) const {
  std::size_t best = 0;
  // What was lost already must be made good by the rest of the job.
  const double allowed = view.slack / view.remaining;
  double least = view.beliefs[0].score;
  const double wall = std::min(safety, kWall);
  for (std::size_t i = 1; i < view.beliefs.size(); ++i) {
    const Belief& belief = view.beliefs[i];
    // Below the first clock that is plainly too slow all are.
    if (!posterior_.slice().limits && belief.safe < wall && !view.default_too_strong) break;
    if (belief.safe < safety || belief.slowdown + belief.slowdown_sd > allowed) continue;
    if (belief.score < least) {
      least = belief.score;
      best = i;
    }
  }
  return best;
}

// The point to keep, by what is known now.
std::size_t SliceSearch::settle(const SliceView& view) const {
  const std::size_t safe = choose(view, kSettleSafety);
  if (!view.default_too_strong) {
    const Belief& belief = view.beliefs[safe];
    return 1 - belief.score - 2 * belief.score_sd < kWorthDoing ? 0 : safe;
  }
  if (safe != 0) return safe;
  // Nothing keeps both promises: keep the budget, at the least slowdown.
  std::size_t mildest = 0;
  for (std::size_t i = 1; i < view.beliefs.size(); ++i) {
    if (view.beliefs[i].safe_power < 0.9) continue;
    if (mildest == 0 || view.beliefs[i].slowdown < view.beliefs[mildest].slowdown) mildest = i;
  }
  return mildest;
}

// The point with the best prospect: what it may save beyond `settled`, times the probability that
// it keeps the bound. 0 when no prospect is worth a window.
std::size_t SliceSearch::most_promising(const SliceView& view, std::size_t settled) const {
  const auto& points = posterior_.slice().points;
  const bool limits = posterior_.slice().limits;
  const double least = limits ? kLimitExploreSafety : kExploreSafety;
  const double weight = posterior_.slice().own_level ? kOwnLevelSafetyWeight : kSafetyWeight;
  std::size_t best = 0;
  double most = kWorthAWindow;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Belief& belief = view.beliefs[i];
    if (!limits && belief.safe < std::min(least, kWall) && !view.default_too_strong) break;
    if (i == settled || belief.safe < least || !affordable(i, settled, view) ||
        (std::exp(points[i].position) < view.floor && i > 1))
      continue;
    const double gain =
        std::min(view.beliefs[settled].score, 1e3) - (belief.score - belief.score_sd);
    const double prospect = std::pow(belief.safe, weight) * gain;
    if (prospect > most) {
      most = prospect;
      best = i;
    }
  }
  return best;
}

// Whether the whole job keeps its promise if this probe goes as expected.
bool SliceSearch::affordable(std::size_t point, std::size_t settled, const SliceView& view) const {
  const double per_window = context_.window_iterations + context_.settle_iterations;
  if (!std::isfinite(view.bound)) return true;
  // At worst the job is bound by the core: then time grows as the clock falls, from the lowest
  // Setting seen on, until the probe is cut short.
  const double ratio = std::exp(posterior_.slice().points[point].position);
  const double worst = (1 + view.lowest_slowdown) * std::max(view.lowest / ratio, 1.0) - 1;
  const double until_cut = context_.settle_iterations +
                           std::max(Step{}.abort_after, iterations_until_cut(context_, view.noise));
  if (!posterior_.slice().limits && worst > view.bound &&
      until_cut * (worst - view.bound) > kRiskShare * view.slack)
    return false;
  const double probe = per_window * std::max(0.0, view.beliefs[point].slowdown);
  const double later = std::max(view.beliefs[settled].slowdown, kLikelyUse * view.bound);
  return probe + later * std::max(0.0, view.remaining - per_window) <= view.slack;
}

std::optional<Step> SliceSearch::explore(const SliceView& view, std::size_t settled,
                                         const JobState& job) const {
  const auto& points = posterior_.slice().points;
  const double per_window = context_.window_iterations + context_.settle_iterations;
  const double windows = job.length / per_window;
  const double most = std::clamp(std::min(0.3 * windows, 8.5 + 0.052 * windows), 5.0, 40.0);
  if (static_cast<double>(job.explored - explored_before_) >= most) return std::nullopt;
  const std::size_t x = most_promising(view, settled);
  if (x == 0) return std::nullopt;
  double near = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (std::abs(points[i].position - points[x].position) < 0.02) near += view.windows[i];
  }
  const double wanted = wanted_baselines(context_, view.noise, job.length);
  if (near >= 2 && view.windows[0] < std::min(wanted, first_baselines_ + 0.5 * near)) {
    return baseline();
  }
  return probe(x, view, job, "the optimum may be here");
}

// Nothing is ever decided from the prior alone.
std::optional<Step> SliceSearch::first_look(const SliceView& view, const JobState& job) const {
  const auto& points = posterior_.slice().points;
  if (view.probed > 0 || points.size() < 2) return std::nullopt;
  const double wanted = -std::log1p(std::clamp(view.bound, 0.02, 0.3));
  std::size_t nearest = 1;
  for (std::size_t i = 2; i < points.size(); ++i) {
    if (std::abs(points[i].position - wanted) < std::abs(points[nearest].position - wanted)) {
      nearest = i;
    }
  }
  return probe(nearest, view, job, "a first look");
}

// Where an earlier run of this job ended: measured until it is seen to be alike, or is refuted.
// What is kept then must be as sure to keep the bound as anything else.
std::optional<Step> SliceSearch::recall(const SliceView& view, const JobState& job) {
  const Remembered& then = *context_.remembered;
  const auto& points = posterior_.slice().points;
  const auto found = std::ranges::find(points, then.setting, &Candidate::setting);
  recall_ = Recall::kRefuted;
  if (found == points.begin() || found == points.end()) return std::nullopt;
  const auto point = static_cast<std::size_t>(found - points.begin());
  const Belief& belief = view.beliefs[point];
  const bool seen = view.windows[point] > 0;
  const double score_then =
      score(context_.objective, then.time_ratio, then.power_ratio, job.default_power);
  const bool alike = std::abs(belief.slowdown - (then.time_ratio - 1)) <=
                         kAlikeSlowdown + 2 * belief.slowdown_sd &&
                     std::abs(belief.score - score_then) <= kAlikeScore + 2 * belief.score_sd;
  if (seen && !alike) return std::nullopt;
  // Alike and a little too slow, as on another card of the model: then what is safe is near.
  if (seen && (belief.safe >= kSettleSafety || view.windows[point] >= kRecallWindows)) {
    recall_ = Recall::kHolds;
    return std::nullopt;
  }
  recall_ = Recall::kLooking;
  return probe(point, view, job, "where an earlier run of this job ended");
}

// While holding: a Setting that is probably within the bound and saves more is worth a window.
std::optional<Step> SliceSearch::go_lower(const SliceView& view, std::size_t settled,
                                          const JobState& job) {
  const double per_window = context_.window_iterations + context_.settle_iterations;
  const double most_tries = std::clamp(0.06 * job.length / per_window, 4.0, 40.0);
  if (held_ == 0 || view.windows[held_] < kEnoughToForbid || bold_tries_ >= most_tries) {
    return std::nullopt;
  }
  const std::size_t y = choose(view, kBoldSafety);
  if (y == 0 || view.windows[y] >= 6) return std::nullopt;
  if (view.beliefs[settled].score - view.beliefs[y].score <= kWorthAMove) return std::nullopt;
  if (!affordable(y, settled, view)) return std::nullopt;
  ++bold_tries_;
  return probe(y, view, job, "a little lower may do");
}

bool SliceSearch::must_move(const SliceView& view, std::size_t settled) const {
  const Belief& held = view.beliefs[held_];
  // A little hysteresis, so that rounding does not make it swing.
  const double allowed = 1.02 * view.slack / view.remaining;
  return held_ == 0 || held.safe < kStaySafety || held.slowdown + held.slowdown_sd > allowed ||
         held.score - view.beliefs[settled].score > kWorthAMove;
}

// The Setting held looks too slow, but the job itself may have slowed down since the default was
// last measured: ask the default before blaming the Setting.
bool SliceSearch::may_be_innocent(const SliceView& view) const {
  return held_ != 0 && view.beliefs[held_].safe < kStaySafety &&
         view.since_baseline >= kAskDefaultAfter;
}

// The job may run at another speed by now, and the Setting held is so near the bound that it
// matters.
bool SliceSearch::baseline_is_old(const SliceView& view) const {
  if (!context_.drift_iterations) return false;
  // Measured in a slow minute, which is over soon: what is held looks better by it than it is.
  if (view.baseline_slower > kSlowMinute &&
      view.baseline_age > kSlowMinuteLasts * *context_.drift_iterations &&
      view.beliefs[held_].slowdown + view.baseline_slower > view.bound) {
    return true;
  }
  if (view.baseline_age < *context_.drift_iterations) return false;
  const bool once = view.baseline_stays <= 1;
  if (!once && view.wander < kWanders) return false;
  return view.beliefs[held_].slowdown + (once ? kMayDriftUnseen : kMayDrift) > view.bound;
}

Step SliceSearch::baseline() const {
  Step step;
  step.iterations = context_.window_iterations;
  step.exploring = true;
  step.reason = "the default again, against drift";
  return step;
}

Step SliceSearch::probe(std::size_t point, const SliceView& view, const JobState& job,
                        const char* why) const {
  Step step;
  step.setting = posterior_.slice().points[point].setting;
  step.iterations = context_.window_iterations;
  step.exploring = true;
  cut_when_too_slow(step, context_, view.noise, job.default_time);
  step.confidence = view.beliefs[point].safe;
  step.reason = why;
  return step;
}

Step SliceSearch::hold(const SliceView& view) const {
  Step step;
  step.setting = posterior_.slice().points[held_].setting;
  step.iterations = context_.window_iterations * (view.windows[held_] >= 6 ? 4 : 1);
  step.confidence = view.beliefs[held_].safe;
  step.reason = "the least that keeps the bound";
  return step;
}

std::vector<ExpectedOutcome> SliceSearch::expected() const {
  std::vector<ExpectedOutcome> expected;
  for (std::size_t i = 0; i < believed_.size(); ++i) {
    const Belief& belief = believed_[i];
    // From here on they are copies of one that is hopeless, or were never asked about.
    if (i > 0 && belief.safe == 0) break;
    expected.push_back({posterior_.slice().points[i].setting, belief.slowdown, belief.slowdown_sd,
                        belief.score, belief.score_sd, belief.safe});
  }
  return expected;
}

std::optional<Step> SliceSearch::next(const Observations& seen, const JobState& job) {
  const std::optional<SliceView> view = look(posterior_, context_, seen, job);
  if (!view) return std::nullopt;
  believed_ = view->beliefs;
  if (recall_ == Recall::kLooking) {
    if (auto step = recall(*view, job)) return step;
    if (refuted()) return std::nullopt;
  }
  const std::size_t settled = settle(*view);
  if (job.length < kShortJob) {
    if (auto step = first_look(*view, job)) return step;
  }
  if (job.length >= kShortJob && may_be_innocent(*view)) return baseline();
  if (view->since_baseline >= kAskDefaultAfter &&
      default_has_moved(posterior_.slice(), seen, view->noise)) {
    return baseline();
  }
  if (recall_ == Recall::kNothing) {
    if (auto step = explore(*view, settled, job)) return step;
  }
  if (auto step = first_look(*view, job)) return step;
  if (auto step = go_lower(*view, settled, job)) return step;
  if (must_move(*view, settled)) held_ = settled;
  if (held_ == 0) return std::nullopt;
  const double wanted = wanted_baselines(context_, view->noise, job.length);
  if (view->since_baseline >= (view->windows[0] < wanted ? 2 : view->stale_after) ||
      baseline_is_old(*view))
    return baseline();
  return hold(*view);
}

}  // namespace hypermile
