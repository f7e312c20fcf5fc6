// SPDX-License-Identifier: Apache-2.0
#include "policy/pace_track.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hypermile {
namespace {

constexpr Eigen::Index kLevel = 0;
constexpr Eigen::Index kLost = 1;
constexpr Eigen::Index kOffsets = 2;

// Standard deviations, over thirty full windows, of the level's and the offsets' wandering. The
// least is a walk that no job notices; the most is a job that no bound can be kept for.
constexpr double kPerWindows = 30;
constexpr std::array kLevelWanders = {0.00002, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032};
constexpr std::array kOffsetWanders = {0.00002, 0.0007, 0.003};
// A level or an offset that jumps does so once in so many full windows, by about this much: slow
// minutes cost a job a few percent.
constexpr double kJumpEvery = 30;
constexpr double kJumpSize = 0.03;
constexpr double kMostJumped = 0.9;  // probability, however long nothing was seen
constexpr double kSurely = 50;       // in log odds
// What each further step of these lists must gain in log likelihood, so that a few unlucky windows
// are not taken for a walk.
constexpr double kStepsCost = 0.5;
// Variance of an offset before it is measured: nothing is known of it.
constexpr double kUnknown = 100;
// An offset of which something is expected has a standard deviation of so many times what the curve
// through other settings claims. Of three jobs, one needed twice as many looks with a factor of 2,
// and one exceeded its bound with 5; all simulated jobs with two seeds were the check
// (docs/design/algorithm.md).
constexpr double kWider = 3;
// The least that such a claim is taken for, of ln time: no curve is surer than a single window. No
// other value was tried.
constexpr double kLeastClaim = 0.003;

double rate(double wander) {
  return wander * wander / kPerWindows;
}

}  // namespace

PaceTrack::PaceTrack(bool wanders) {
  if (!wanders) {
    filters_.push_back({});
    return;
  }
  for (std::size_t i = 0; i < kLevelWanders.size(); ++i) {
    for (std::size_t j = 0; j < kOffsetWanders.size(); ++j) {
      for (const Jump jump : {Jump::kHolds, Jump::kLevelJumps, Jump::kOffsetJumps}) {
        const double steps = static_cast<double>(i + 2 * j) + (jump == Jump::kHolds ? 0 : 2);
        filters_.push_back({.level_rate = rate(kLevelWanders[i]),
                            .offset_rate = rate(kOffsetWanders[j]),
                            .jump = jump,
                            .handicap = kStepsCost * steps});
      }
    }
  }
}

std::optional<Eigen::Index> PaceTrack::row_of(std::size_t setting) const {
  const auto found = std::ranges::find(settings_, setting);
  if (found == settings_.end()) return std::nullopt;
  return kOffsets + (found - settings_.begin());
}

Eigen::Index PaceTrack::row_for(std::size_t setting) {
  if (const auto row = row_of(setting)) return *row;
  settings_.push_back(setting);
  const auto n = kOffsets + static_cast<Eigen::Index>(settings_.size());
  for (Filter& filter : filters_) {
    filter.state.conservativeResize(n);
    filter.state(n - 1) = 0;
    filter.covariance.conservativeResize(n, n);
    filter.covariance.row(n - 1).setZero();
    filter.covariance.col(n - 1).setZero();
    filter.covariance(n - 1, n - 1) = kUnknown;
  }
  return n - 1;
}

void PaceTrack::add(std::size_t setting, double at, double windows, double value, double noise,
                    const std::optional<ExpectedLook>& expected) {
  const double variance = noise * noise / windows;
  if (empty()) {
    if (setting != 0) return;
    for (Filter& filter : filters_) {
      filter.state = Eigen::VectorXd::Zero(kOffsets);
      filter.state(kLevel) = value;
      filter.covariance = Eigen::MatrixXd::Zero(kOffsets, kOffsets);
      filter.covariance(kLevel, kLevel) = variance;
    }
    at_ = at;
    return;
  }
  const bool first = setting != 0 && !row_of(setting);
  const Eigen::Index row = setting == 0 ? kLevel : row_for(setting);
  if (first && expected) expect(row, value, *expected);
  const double passed = std::max(at - at_, 0.0);
  at_ = std::max(at, at_);
  for (Filter& filter : filters_) {
    filter.covariance(kLevel, kLevel) += filter.level_rate * passed;
    for (Eigen::Index i = kOffsets; i < filter.state.size(); ++i) {
      filter.covariance(i, i) += filter.offset_rate * passed;
    }
    see(filter,
        {row, value, variance, std::min(1 - std::exp(-passed / kJumpEvery), kMostJumped), first});
  }
  const auto worth = [](const Filter& one) { return one.likelihood - one.handicap; };
  best_ =
      static_cast<std::size_t>(std::ranges::max_element(filters_, {}, worth) - filters_.begin());
}

// A Setting that looks faster than its neighbours let expect may have been seen just as a slow
// minute ended. What is beyond the doubt of the expectation is then as likely the job's. One that
// looks slower is believed: to take that for the job's would lose time that the job does not have.
void PaceTrack::expect(Eigen::Index row, double value, const ExpectedLook& expected) {
  const double faster = level() + expected.log_time - value;
  if (!(faster > 0)) return;
  const double deviation = kWider * std::max(expected.sd, kLeastClaim);
  const double doubt = std::max(faster - deviation, 0.0);
  for (Filter& filter : filters_) {
    filter.covariance(kLevel, kLevel) += doubt * doubt;
    filter.state(row) = expected.log_time;
    filter.covariance(row, row) = deviation * deviation;
  }
}

// Either there was a jump or there was none: both are worked out, and what is believed afterwards
// has the mean and the covariance of the two together.
void PaceTrack::see(Filter& filter, const Sight& sight) {
  Eigen::VectorXd towards = filter.covariance.col(kLevel);
  double expected = filter.state(kLevel);
  if (sight.row != kLevel) {
    towards += filter.covariance.col(sight.row);
    expected += filter.state(sight.row);
  }
  const double all =
      towards(kLevel) + (sight.row != kLevel ? towards(sight.row) : 0) + sight.variance;
  const double off = sight.value - expected;
  const double log_steady = -0.5 * (std::log(all) + off * off / all);
  const bool of_level = filter.jump == Jump::kLevelJumps;
  const bool may_jump =
      of_level || (filter.jump == Jump::kOffsetJumps && sight.row != kLevel && !sight.first);
  if (!may_jump || !(sight.jumped > 0)) {
    filter.likelihood += log_steady;
    filter.state += towards * (off / all);
    filter.covariance -= towards * towards.transpose() / all;
    return;
  }
  const Eigen::Index row = of_level ? kLevel : sight.row;
  constexpr double kVariance = kJumpSize * kJumpSize;
  const double wide = all + kVariance;
  const double log_ratio = std::log(sight.jumped / (1 - sight.jumped)) -
                           0.5 * (std::log(wide) + off * off / wide) - log_steady;
  const double ratio = std::exp(std::min(log_ratio, kSurely));
  const double moved = ratio / (1 + ratio);
  filter.likelihood += log_steady + std::log1p(ratio) + std::log1p(-sight.jumped);
  Eigen::VectorXd further = towards;
  further(row) += kVariance;
  const Eigen::VectorXd apart = (further / wide - towards / all) * off;
  filter.state += towards * (off / all) + moved * apart;
  filter.covariance(row, row) += moved * kVariance;
  filter.covariance -= (1 - moved) / all * towards * towards.transpose() +
                       moved / wide * further * further.transpose() -
                       moved * (1 - moved) * apart * apart.transpose();
}

// The loss is a sum over the job of the offset at its time, so it is part of the state: whatever
// tells of an offset later corrects what it has cost.
void PaceTrack::ran(std::size_t setting, double iterations) {
  const auto row = row_of(setting);
  if (!row) return;
  for (Filter& filter : filters_) {
    const double ratio = std::exp(filter.state(*row));
    const double slope = iterations * ratio;
    filter.state(kLost) += iterations * (ratio - 1);
    filter.covariance.row(kLost) += slope * filter.covariance.row(*row);
    filter.covariance.col(kLost) += slope * filter.covariance.col(*row);
  }
}

void PaceTrack::forget(std::size_t setting) {
  if (const auto row = row_of(setting)) {
    const auto n = filters_.front().state.size();
    std::vector<Eigen::Index> kept;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (i != *row) kept.push_back(i);
    }
    for (Filter& filter : filters_) {
      filter.state = Eigen::VectorXd(filter.state(kept));
      filter.covariance = Eigen::MatrixXd(filter.covariance(kept, kept));
    }
    std::erase(settings_, setting);
  }
  for (std::size_t& one : settings_) one -= one > setting;
}

double PaceTrack::level() const {
  return empty() ? 0 : best().state(kLevel);
}

std::optional<double> PaceTrack::offset(std::size_t setting) const {
  const auto row = row_of(setting);
  if (!row) return std::nullopt;
  return best().state(*row);
}

double PaceTrack::lost() const {
  return empty() ? 0 : best().state(kLost);
}

// Where the default is thought slower than it is, every offset is thought smaller: the errors of
// the level and of what is lost at its expense have opposite signs.
double PaceTrack::variance(double future) const {
  if (empty()) return 0;
  const Eigen::MatrixXd& covariance = best().covariance;
  const double sum = covariance(kLost, kLost) - 2 * future * covariance(kLost, kLevel) +
                     future * future * covariance(kLevel, kLevel);
  return std::max(sum, 0.0);
}

double PaceTrack::variance_after(double windows, double noise, double future) const {
  const double now = variance(future);
  if (!(now > 0) || !(windows > 0)) return now;
  const Eigen::MatrixXd& covariance = best().covariance;
  const double with = covariance(kLost, kLevel) - future * covariance(kLevel, kLevel);
  const double after_one = now - with * with / (covariance(kLevel, kLevel) + noise * noise);
  if (!(after_one > 0)) return 0;
  return 1 / (1 / now + windows * (1 / after_one - 1 / now));
}

}  // namespace hypermile
