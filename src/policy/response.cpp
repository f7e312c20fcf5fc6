// SPDX-License-Identifier: Apache-2.0
#include "policy/response.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/random.h"

namespace hypermile {
namespace {

// Standard deviations of a Setting's own deviation from the smooth curve, of which the likeliest is
// taken; most curves have the first, kernels that fall out of step with a clock have the last.
constexpr std::array kOwn = {0.001, 0.004, 0.016, 0.064};
constexpr double kOwnStepsCost = 1.0;  // in log likelihood, for each further step
// Standard errors of an earlier run's ratios: jobs and cards differ a little from day to day.
constexpr double kRecalledTime = 0.015;
constexpr double kRecalledPower = 0.02;
// Standard deviations by which a Setting may be slower than it seemed, where it tells of others.
constexpr double kSurelySlower = 1;
// Variance of the default's level before it is measured: the level is told by measurements alone.
constexpr double kLevelVariance = 0.25;

double bend_covariance(double x, double y) {
  const double low = std::min(x, y);
  const double high = std::max(x, y);
  return low * low * (3 * high - low) / 6;
}

double along(const KnobPrior& prior, double x, double y) {
  return prior.slope_sd * prior.slope_sd * x * y + prior.bend * prior.bend * bend_covariance(x, y);
}

double highest(const PolicyContext& context, Knob knob) {
  double most = 0;
  for (const Setting& setting : context.settings) {
    most = std::max(most, setting.value(knob).value_or(0));
  }
  return std::max(most, 1e-9);
}

}  // namespace

const ResponsePrior& usual_prior() {
  static const ResponsePrior kPrior = {
      .sm_time = {0.45, 0.35, 1.2},
      .sm_power = {-1.1, 0.7, 4},
      .limit_time = {0.1, 0.25, 1.6},
      .limit_power = {-0.7, 0.5, 4},
      .memory_time = {0.35, 0.4, 0.3},
      .memory_power = {-0.2, 0.15, 0.3},
      .twist_time = 0.3,
      .twist_power = 0.3,
      .either_or = -0.7,
  };
  return kPrior;
}

Response::Response(const PolicyContext& context, const ResponsePrior& prior)
    : time_{prior.sm_time, prior.limit_time, prior.memory_time, prior.twist_time, prior.either_or},
      power_{prior.sm_power, prior.limit_power, prior.memory_power, prior.twist_power},
      beliefs_(context.settings.size()) {
  const auto place = [&](const Setting& setting, Knob knob) {
    const auto value = setting.value(knob);
    if (!value || !(*value > 0)) return 0.0;
    const double usual = context.default_values.value(knob).value_or(highest(context, knob));
    return std::max(0.0, std::log(usual / *value));
  };
  for (const Setting& setting : context.settings) {
    places_.push_back({place(setting, Knob::kSmClock), place(setting, Knob::kMemoryClock),
                       place(setting, Knob::kPowerLimit)});
  }
}

double Response::prior_mean(const Quantity& quantity, std::size_t setting) const {
  if (!quantity.predicted.empty()) return quantity.predicted[setting];
  const Place& at = places_[setting];
  return quantity.sm.slope * at.sm + quantity.limit.slope * at.limit +
         quantity.memory.slope * at.memory;
}

double Response::covariance(const Quantity& quantity, std::size_t a, std::size_t b) const {
  const Place& one = places_[a];
  const Place& other = places_[b];
  const double usual =
      along(quantity.sm, one.sm, other.sm) + along(quantity.limit, one.limit, other.limit) +
      along(quantity.memory, one.memory, other.memory) +
      quantity.either_or * quantity.sm.slope_sd * quantity.memory.slope_sd *
          (one.sm * other.memory + one.memory * other.sm) +
      quantity.twist * quantity.twist * one.memory * other.memory * one.sm * other.sm;
  return quantity.width.empty() ? usual : usual * quantity.width[a] * quantity.width[b];
}

void Response::expect(std::span<const PredictedRatio> ratios) {
  if (ratios.size() != places_.size()) return;
  const auto fill = [&](Quantity& quantity, auto mean, auto sd) {
    quantity.predicted.clear();
    quantity.width.clear();
    std::vector<double> predicted, width;
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      const double own = std::sqrt(covariance(quantity, i, i));
      predicted.push_back(is_default(i) ? 0 : mean(ratios[i]));
      width.push_back(own > 0 ? sd(ratios[i]) / own : 1);
    }
    quantity.predicted = std::move(predicted);
    quantity.width = std::move(width);
  };
  fill(
      time_, [](const PredictedRatio& one) { return one.log_time; },
      [](const PredictedRatio& one) { return one.time_sd; });
  fill(
      power_, [](const PredictedRatio& one) { return one.log_energy - one.log_time; },
      [](const PredictedRatio& one) { return std::hypot(one.energy_sd, one.time_sd); });
}

Response::Curve Response::solve(const Quantity& quantity, const Seen& seen) const {
  const auto n = static_cast<Eigen::Index>(seen.settings.size());
  Eigen::MatrixXd prior(n, n);
  Eigen::VectorXd off(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const std::size_t a = seen.settings[static_cast<std::size_t>(i)];
    off(i) = seen.values[static_cast<std::size_t>(i)] - prior_mean(quantity, a);
    for (Eigen::Index j = 0; j <= i; ++j) {
      prior(i, j) = prior(j, i) =
          kLevelVariance + covariance(quantity, a, seen.settings[static_cast<std::size_t>(j)]);
    }
  }
  double best = -std::numeric_limits<double>::infinity();
  double own = kOwn.front();
  Eigen::LLT<Eigen::MatrixXd> factor;
  Eigen::VectorXd weights;
  for (std::size_t k = 0; k < kOwn.size(); ++k) {
    Eigen::MatrixXd all = prior;
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      all(i, i) += seen.variances[at] + (seen.settings[at] == 0 ? 0 : kOwn[k] * kOwn[k]);
    }
    const Eigen::LLT<Eigen::MatrixXd> tried(all);
    const Eigen::VectorXd solved = tried.solve(off);
    const double likelihood = -0.5 * off.dot(solved) -
                              tried.matrixLLT().diagonal().array().log().sum() -
                              kOwnStepsCost * static_cast<double>(k);
    if (!(likelihood > best)) continue;
    best = likelihood;
    own = kOwn[k];
    factor = tried;
    weights = solved;
  }
  Curve curve;
  Eigen::VectorXd with(n);
  for (std::size_t setting = 0; setting < places_.size(); ++setting) {
    double variance = covariance(quantity, setting, setting) + (setting == 0 ? 0 : own * own);
    for (Eigen::Index i = 0; i < n; ++i) {
      const std::size_t a = seen.settings[static_cast<std::size_t>(i)];
      with(i) = covariance(quantity, setting, a) + (a == setting && setting != 0 ? own * own : 0);
    }
    if (weights.size() == n) {
      variance -= with.dot(factor.solve(with));
      curve.mean.push_back(prior_mean(quantity, setting) + with.dot(weights));
    } else {
      curve.mean.push_back(prior_mean(quantity, setting));
    }
    curve.sd.push_back(std::sqrt(std::max(variance, 0.0)));
  }
  return curve;
}

void Response::fit(const JobLedger& ledger) {
  Seen time, power;
  const double level = ledger.pace_error();
  time.settings = power.settings = {0};
  time.values = power.values = {0};
  time.variances = {level * level};
  const double windows = std::max(ledger.default_windows(), 1.0);
  power.variances = {ledger.power_noise() * ledger.power_noise() / windows};
  for (const SeenSetting& one : ledger.seen()) {
    time.settings.push_back(one.setting);
    power.settings.push_back(one.setting);
    time.values.push_back(one.log_time);
    power.values.push_back(one.log_power);
    time.variances.push_back(ledger.time_noise() * ledger.time_noise() / one.windows);
    power.variances.push_back(ledger.power_noise() * ledger.power_noise() / one.windows);
  }
  if (remembered_ && remembered_->setting < places_.size() && remembered_->time_ratio > 0 &&
      remembered_->power_ratio > 0) {
    time.settings.push_back(remembered_->setting);
    power.settings.push_back(remembered_->setting);
    time.values.push_back(std::log(remembered_->time_ratio));
    power.values.push_back(std::log(remembered_->power_ratio));
    time.variances.push_back(kRecalledTime * kRecalledTime);
    power.variances.push_back(kRecalledPower * kRecalledPower);
  }
  const Curve times = solve(time_, time);
  const Curve powers = solve(power_, power);
  for (std::size_t i = 0; i < beliefs_.size(); ++i) {
    beliefs_[i] = {times.mean[i], times.sd[i], powers.mean[i], powers.sd[i]};
  }
  keep_physical(beliefs_);
  keep_monotone(time, times);
  // What was measured is believed even where no clock explains it.
  for (const std::size_t i : time.settings) {
    if (i != 0) beliefs_[i].log_time = std::max(times.mean[i], 0.0);
  }
}

// The weights of slope and bend are drawn on the places themselves: one Cholesky of the prior.
Eigen::VectorXd Response::draw(const Quantity& quantity, Random& random) const {
  const auto n = static_cast<Eigen::Index>(places_.size());
  Eigen::MatrixXd prior(n, n);
  Eigen::VectorXd mean(n), normal(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    mean(i) = prior_mean(quantity, static_cast<std::size_t>(i));
    normal(i) = random.gaussian();
    for (Eigen::Index j = 0; j <= i; ++j) {
      prior(i, j) = prior(j, i) =
          covariance(quantity, static_cast<std::size_t>(i), static_cast<std::size_t>(j));
    }
    prior(i, i) += 1e-9;  // so that Settings at the same place have a factor
  }
  return mean + Eigen::MatrixXd(prior.llt().matrixL()) * normal;
}

std::vector<Belief> Response::draw(Random& random) const {
  const Eigen::VectorXd time = draw(time_, random);
  const Eigen::VectorXd power = draw(power_, random);
  std::vector<Belief> job(places_.size());
  for (std::size_t i = 0; i < job.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    if (!is_default(i)) job[i] = {time(at), 0, power(at), 0};
  }
  keep_physical(job);
  return job;
}

// Time never falls as a knob goes down: what was measured too slow tells of everything below it.
void Response::keep_monotone(const Seen& time, const Curve& times) {
  const auto below = [](const Place& one, const Place& other) {
    return one.sm >= other.sm && one.memory >= other.memory && one.limit >= other.limit;
  };
  for (std::size_t i = 0; i < beliefs_.size(); ++i) {
    Belief& belief = beliefs_[i];
    for (const std::size_t seen : time.settings) {
      if (seen == i || !below(places_[i], places_[seen])) continue;
      belief.least_time =
          std::max(belief.least_time, times.mean[seen] - kSurelySlower * times.sd[seen]);
    }
    belief.log_time = std::max(belief.log_time, belief.least_time);
  }
}

// Time is never below that of the default; with clocks alone it never grows by more than they fall.
void Response::keep_physical(std::vector<Belief>& beliefs) const {
  for (std::size_t i = 0; i < beliefs.size(); ++i) {
    Belief& belief = beliefs[i];
    const Place& at = places_[i];
    if (at.limit == 0) belief.log_time = std::min(belief.log_time, at.sm + at.memory);
    belief.log_time = std::max(belief.log_time, 0.0);
    belief.log_power = std::min(belief.log_power, 0.0);
  }
}

}  // namespace hypermile
