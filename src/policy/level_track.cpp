// SPDX-License-Identifier: Apache-2.0
#include "policy/level_track.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace hypermile {
namespace {

// Standard deviations, over thirty full windows, among which the likeliest wander is chosen. The
// least is a walk that no job notices; the most is a job that no bound can be kept for.
constexpr double kPerWindows = 30;
constexpr std::array kWanders = {0.00002, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032};
// What each further step of that list must gain in log likelihood, so that a few unlucky windows
// are not taken for a walk.
constexpr double kStepsCost = 0.1;

double rate(double wander) {
  return wander * wander / kPerWindows;
}

// Solves the symmetric tridiagonal system of a random walk seen at the stays: `own` is each stay's
// precision, `links` the precision of each step between neighbours.
std::vector<double> solve_walk(std::span<const double> own, std::span<const double> links,
                               std::vector<double> right) {
  const std::size_t n = own.size();
  std::vector<double> diagonal(n);
  for (std::size_t i = 0; i < n; ++i) {
    diagonal[i] = own[i] + (i > 0 ? links[i - 1] : 0) + (i + 1 < n ? links[i] : 0);
  }
  for (std::size_t i = 1; i < n; ++i) {
    const double factor = links[i - 1] / diagonal[i - 1];
    diagonal[i] -= factor * links[i - 1];
    right[i] += factor * right[i - 1];
  }
  for (std::size_t i = n; i-- > 0;) {
    if (i + 1 < n) right[i] += links[i] * right[i + 1];
    right[i] /= diagonal[i];
  }
  return right;
}

}  // namespace

void LevelTrack::add(double at, double windows, double value, bool fresh) {
  if (fresh || stays_.empty()) {
    stays_.push_back({at, windows, value});
    return;
  }
  Stay& stay = stays_.back();
  const double all = stay.windows + windows;
  const double off = value - stay.value;
  squares_ += stay.windows * windows / all * off * off;
  freedom_ += 1;
  stay.value += windows / all * off;
  stay.at += windows / all * (at - stay.at);
  stay.windows = all;
}

double LevelTrack::windows() const {
  double all = 0;
  for (const Stay& stay : stays_) all += stay.windows;
  return all;
}

// Of the walk, by a Kalman filter that begins without an opinion.
double LevelTrack::likelihood(double wander) const {
  double mean = stays_.front().value;
  double variance = noise_ * noise_ / stays_.front().windows;
  double sum = 0;
  for (std::size_t k = 1; k < stays_.size(); ++k) {
    const Stay& stay = stays_[k];
    variance += wander * (stay.at - stays_[k - 1].at);
    const double seen = noise_ * noise_ / stay.windows;
    const double all = variance + seen;
    const double off = stay.value - mean;
    sum -= 0.5 * (std::log(all) + off * off / all);
    mean += variance / all * off;
    variance *= seen / all;
  }
  return sum;
}

void LevelTrack::solve(double noise) {
  noise_ = noise;
  if (stays_.empty()) return;
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < kWanders.size(); ++i) {
    const double value = likelihood(rate(kWanders[i])) - kStepsCost * static_cast<double>(i);
    if (value <= best) continue;
    best = value;
    wander_ = rate(kWanders[i]);
  }
  std::vector<double> own, links, right;
  for (std::size_t k = 0; k < stays_.size(); ++k) {
    own.push_back(stays_[k].windows / (noise_ * noise_));
    right.push_back(own.back() * stays_[k].value);
    if (k > 0) links.push_back(1 / (wander_ * std::max(stays_[k].at - stays_[k - 1].at, 1e-3)));
  }
  levels_ = solve_walk(own, links, std::move(right));
}

double LevelTrack::at(double position) const {
  if (levels_.empty()) return 0;
  const auto after = std::ranges::lower_bound(stays_, position, {}, &Stay::at);
  if (after == stays_.begin()) return levels_.front();
  if (after == stays_.end()) return levels_.back();
  const auto k = static_cast<std::size_t>(after - stays_.begin());
  const double span = after->at - stays_[k - 1].at;
  const double share = span > 0 ? (position - stays_[k - 1].at) / span : 1;
  return levels_[k - 1] + share * (levels_[k] - levels_[k - 1]);
}

double LevelTrack::variance_of_mean(std::span<const double> weights, double more, double at,
                                    bool fresh) const {
  std::vector<Stay> stays = stays_;
  std::vector<double> shares(weights.begin(), weights.end());
  if (more > 0 && (fresh || stays.empty())) {
    stays.push_back({at, more, 0});
    shares.push_back(0);
  } else if (more > 0) {
    stays.back().windows += more;
  }
  const std::size_t n = stays.size();
  if (n == 0) return 0;
  double all = 0;
  for (const double share : shares) all += share;
  if (all <= 0) {
    shares.assign(n + 1, 0);
    shares[n] = all = 1;
  }
  std::vector<double> own(n), links, towards(n, 0);
  double bridges = 0;
  for (std::size_t k = 0; k <= n; ++k) {
    const double share = shares[k] / all;
    const double from = k > 0 ? stays[k - 1].at : 0;
    const double span = std::max((k < n ? stays[k].at : at) - from, 0.0);
    const bool between = k > 0 && k < n;
    if (between) links.push_back(1 / (wander_ * std::max(span, 1e-3)));
    if (k > 0) towards[k - 1] += between ? share / 2 : share;
    if (k < n) towards[k] += between ? share / 2 : k == 0 ? share : 0;
    bridges += share * share * wander_ * span / (between ? 12 : 3);
    if (k < n) own[k] = stays[k].windows / (noise_ * noise_);
  }
  const std::vector<double> solved = solve_walk(own, links, towards);
  double variance = bridges;
  for (std::size_t k = 0; k < n; ++k) variance += towards[k] * solved[k];
  return variance;
}

void LevelTrack::thin_out() {
  std::vector<Stay> kept;
  for (std::size_t k = 0; k < stays_.size(); k += 2) {
    Stay stay = stays_[k];
    if (k + 1 < stays_.size()) {
      const Stay& next = stays_[k + 1];
      const double share = next.windows / (stay.windows + next.windows);
      stay.at += share * (next.at - stay.at);
      stay.value += share * (next.value - stay.value);
      stay.windows += next.windows;
    }
    kept.push_back(stay);
  }
  stays_ = std::move(kept);
  solve(noise_);
}

}  // namespace hypermile
