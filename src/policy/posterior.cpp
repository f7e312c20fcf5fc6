// SPDX-License-Identifier: Apache-2.0
#include "policy/posterior.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr double kNegligible = 1e-5;  // of the heaviest particle's weight
// While nearly all particles count, a part of them tells the same in less time.
constexpr std::size_t kEnoughParticles = 400;

constexpr double kHopeless = 0.02;  // probability of keeping the bound

// What fitted physics models miss of measured curves, standard deviations of ln ratio.
constexpr double kTimeMisfit = 0.005;
constexpr double kPowerMisfit = 0.012;
constexpr double kReach = 0.08;
constexpr double kClockJitter = 0.002;
constexpr double kLimitJitter = 0.006;
constexpr double kOwnLevel = 0.5;
constexpr double kLockedLevel = 0.003;

// The normal distribution function within 2e-4, for whole arrays at once: a logistic curve with a
// cubic argument.
Eigen::ArrayXf normal_cdf(const Eigen::ArrayXf& x) {
  const Eigen::ArrayXf z = x.max(-6.0F).min(6.0F);
  return 1 / (1 + (-z * (1.5976F + 0.070566F * z * z)).exp());
}

// Models agree near the default, where all ratios are near 1; a power limit acts from the start.
double misfit_scale(const Slice& slice, std::size_t point) {
  if (point == 0) return 0;
  if (slice.limits) return 1;
  return std::min(1.0, 0.3 + std::abs(slice.points[point].position) / 0.04);
}

// Relative change of the score for a relative change of time or power.
struct Sensitivity {
  double time = 0;
  double power = 0;
};

Sensitivity sensitivity(const Objective& objective, double time, double power, Watts base) {
  constexpr double kStep = 0.01;
  const double here = score(objective, time, power, base);
  return {(score(objective, time * (1 + kStep), power, base) - here) / kStep,
          (score(objective, time, power * (1 + kStep), base) - here) / kStep};
}

}  // namespace

struct Posterior::Particles {
  std::vector<Eigen::Index> index;
  Eigen::ArrayXf weight;  // sums to 1

  // False where no particle has a likelihood.
  bool select(const Eigen::ArrayXd& log_weight) {
    const double heaviest = log_weight.maxCoeff();
    if (!std::isfinite(heaviest)) return false;
    const Eigen::ArrayXd w = (log_weight - heaviest).exp();
    const auto counting = static_cast<std::size_t>((w >= kNegligible).count());
    const std::size_t every = (counting + kEnoughParticles - 1) / kEnoughParticles;
    std::vector<float> kept;
    std::size_t met = 0;
    for (Eigen::Index k = 0; k < w.size(); ++k) {
      if (!(w(k) >= kNegligible) || met++ % every != 0) continue;
      index.push_back(k);
      kept.push_back(static_cast<float>(w(k)));
    }
    weight = Eigen::Map<Eigen::ArrayXf>(kept.data(), static_cast<Eigen::Index>(kept.size()));
    weight /= weight.sum();
    return true;
  }
};

Posterior::Posterior(Slice slice, ParticleTable table)
    : slice_(std::move(slice)), table_(std::move(table)) {
  for (std::size_t i = 0; i < slice_.points.size(); ++i) {
    axis_.position.push_back(slice_.points[i].position);
    axis_.scale.push_back(misfit_scale(slice_, i));
  }
  // Another memory clock can change the level by any factor. Locking alone changes it a little: the
  // default may boost above the clock it shows.
  const double own = slice_.own_level ? kOwnLevel : 0;
  const double locked = slice_.limits ? 0 : kLockedLevel;
  const double jitter = slice_.limits ? kLimitJitter : kClockJitter;
  time_misfit_ = {kTimeMisfit, kReach, jitter, slice_.own_level ? own : locked};
  power_misfit_ = {kPowerMisfit, kReach, jitter, own};
}

// Errors of one prediction hang together along the knob, so their mean square counts as one; heavy
// tails, because a predictor may be plainly wrong about a job.
void Posterior::expect(std::span<const PredictedRatio> ratios) {
  constexpr double kLowestAsked = 0.6;
  constexpr double kLeastSd = 0.01;
  constexpr double kTails = 3;
  Eigen::ArrayXd squares = Eigen::ArrayXd::Zero(table_.log_time.rows());
  double count = 0;
  for (std::size_t i = 1; i < slice_.points.size(); ++i) {
    const Candidate& point = slice_.points[i];
    if (point.setting >= ratios.size() || point.ratio < kLowestAsked) continue;
    const PredictedRatio& said = ratios[point.setting];
    const auto column = static_cast<Eigen::Index>(i);
    const Eigen::ArrayXd time = table_.log_time.col(column).cast<double>();
    const Eigen::ArrayXd energy = time + table_.log_power.col(column).cast<double>();
    squares += ((time - said.log_time) / std::max(said.time_sd, kLeastSd)).square();
    squares += ((energy - said.log_energy) / std::max(said.energy_sd, kLeastSd)).square();
    count += 2;
  }
  if (count == 0) return;
  expected_ = -(kTails + 1) / 2 * (1 + squares / count / kTails).log();
}

SeenBlocks Posterior::sort_out(std::span<const Block> blocks) const {
  SeenBlocks seen;
  for (const Block& block : blocks) {
    const auto point = std::ranges::find(slice_.points, block.setting, &Candidate::setting);
    if (point == slice_.points.end()) continue;
    const auto at = static_cast<std::size_t>(point - slice_.points.begin());
    auto known = std::ranges::find(seen.points, at);
    if (known == seen.points.end()) known = seen.points.insert(known, at);
    seen.blocks.push_back(block);
    seen.point.push_back(at);
    seen.which.push_back(static_cast<std::size_t>(known - seen.points.begin()));
  }
  return seen;
}

Eigen::MatrixXd Posterior::at_seen(const Eigen::ArrayXXf& table, const SeenBlocks& seen) const {
  Eigen::MatrixXd values(table.rows(), static_cast<Eigen::Index>(seen.points.size()));
  for (std::size_t j = 0; j < seen.points.size(); ++j) {
    values.col(static_cast<Eigen::Index>(j)) =
        table.col(static_cast<Eigen::Index>(seen.points[j])).matrix().cast<double>();
  }
  return values;
}

Belief Posterior::believe_point(Eigen::Index point, const Conditioning& time,
                                const Conditioning& power, const Particles& particles,
                                const Objective& objective, Watts default_power) const {
  const auto bound = target_bound(objective);
  const auto& budget = objective.power_budget;
  const double log_bound = bound ? std::log1p(*bound) : INFINITY;
  const double log_budget =
      budget && default_power > Watts(0) ? std::log(*budget / default_power) : INFINITY;
  if (point == 0) return Belief{.safe_power = log_budget >= 0 ? 1.0 : 0.0};
  const auto n = static_cast<Eigen::Index>(particles.index.size());
  Eigen::ArrayXf log_time = time.corrections(point);
  Eigen::ArrayXf log_power = power.corrections(point);
  for (Eigen::Index a = 0; a < n; ++a) {
    const Eigen::Index k = particles.index[static_cast<std::size_t>(a)];
    log_time(a) += table_.log_time(k, point);
    log_power(a) += table_.log_power(k, point);
  }
  const Eigen::ArrayXf t = log_time.exp();
  const Eigen::ArrayXf p = log_power.exp();
  const Eigen::ArrayXf scores = score_of(objective, t, p, default_power);
  const Eigen::ArrayXf& w = particles.weight;
  const auto within = [](double log_limit, const Eigen::ArrayXf& values, double variance) {
    return normal_cdf((static_cast<float>(log_limit) - values) /
                      static_cast<float>(std::sqrt(variance)));
  };
  Eigen::ArrayXf in_time = w;
  if (std::isfinite(log_bound)) in_time *= within(log_bound, log_time, time.variance(point));
  Belief belief{.safe = in_time.sum(), .safe_power = 1, .score = (w * scores).sum()};
  if (std::isfinite(log_budget)) {
    const Eigen::ArrayXf in_budget = within(log_budget, log_power, power.variance(point));
    belief.safe = (in_time * in_budget).sum();
    belief.safe_power = (w * in_budget).sum();
  }
  const double mean_time = (w * t).sum();
  const double mean_power = (w * p).sum();
  const Sensitivity by = sensitivity(objective, mean_time, mean_power, default_power);
  belief.safe = std::min(belief.safe, 1.0);
  belief.score_sd = std::sqrt((w * (scores - static_cast<float>(belief.score)).square()).sum() +
                              by.time * by.time * time.variance(point) +
                              by.power * by.power * power.variance(point));
  belief.slowdown = mean_time - 1;
  belief.slowdown_sd = std::sqrt((w * (t - static_cast<float>(mean_time)).square()).sum() +
                                 mean_time * mean_time * time.variance(point));
  return belief;
}

std::optional<std::vector<Belief>> Posterior::believe(std::span<const Block> blocks,
                                                      const Noise& noise,
                                                      const Objective& objective,
                                                      Watts default_power, double lowest) const {
  const SeenBlocks seen = sort_out(blocks);
  if (std::ranges::find(seen.points, std::size_t{0}) == seen.points.end()) return std::nullopt;
  const auto m = static_cast<Eigen::Index>(seen.blocks.size());
  Eigen::VectorXd log_time(m);
  Eigen::VectorXd log_power(m);
  for (Eigen::Index b = 0; b < m; ++b) {
    log_time(b) = seen.blocks[static_cast<std::size_t>(b)].log_time;
    log_power(b) = seen.blocks[static_cast<std::size_t>(b)].log_power;
  }
  const DriftModel drift = estimate_drift(blocks, noise);
  Conditioning time(axis_, time_misfit_, drift, seen, log_time, noise.time);
  Conditioning power(axis_, power_misfit_, drift, seen, log_power, noise.power);
  if (!time.ok() || !power.ok()) return std::nullopt;
  time.weigh(at_seen(table_.log_time, seen));
  power.weigh(at_seen(table_.log_power, seen));
  Particles particles;
  Eigen::ArrayXd log_weight = time.log_likelihood() + power.log_likelihood();
  if (expected_) log_weight += *expected_;
  if (!particles.select(log_weight)) return std::nullopt;
  time.keep(particles.index);
  power.keep(particles.index);
  const std::size_t lowest_seen = *std::ranges::max_element(seen.points);
  std::vector<Belief> beliefs;
  for (std::size_t i = 0; i < slice_.points.size(); ++i) {
    beliefs.push_back(believe_point(static_cast<Eigen::Index>(i), time, power, particles, objective,
                                    default_power));
    // Still lower clocks are slower still, or nobody's concern: no need to work them out.
    const bool enough = i > lowest_seen && (beliefs.back().safe < kHopeless ||
                                            slice_.points[i].position < std::log(lowest));
    if (!slice_.limits && !objective.power_budget && enough) {
      Belief hopeless = beliefs.back();
      hopeless.safe = 0;
      beliefs.resize(slice_.points.size(), hopeless);
      break;
    }
  }
  return beliefs;
}

}  // namespace hypermile
