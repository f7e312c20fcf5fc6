// SPDX-License-Identifier: Apache-2.0
#include "control/slowdown_account.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

// How much the speed of a job at the default wanders over minutes, before anything is seen of it,
// and how many stays at the default that is worth.
constexpr double kUsualWander = 0.005;
constexpr double kUsualStays = 2;
// A Window that cannot tell its error, and what no Window is better than.
constexpr double kUnknownError = 0.01;
constexpr double kLeastError = 0.002;
constexpr double kPlainly = 2;  // standard errors

}  // namespace

void SlowdownAccount::merge(std::optional<Level>& into, const Level& other) {
  if (!into) {
    into = other;
    return;
  }
  const double share = other.iterations / (into->iterations + other.iterations);
  into->time += share * (other.time - into->time);
  into->variance = (1 - share) * (1 - share) * into->variance + share * share * other.variance;
  into->iterations += other.iterations;
}

// Relative variance.
double SlowdownAccount::wander() const {
  return (kUsualStays * kUsualWander * kUsualWander + std::max(0.0, excess_)) /
         (kUsualStays + stays_);
}

// One stay is believed as far as it differs from all of them by more than noise.
SlowdownAccount::Level SlowdownAccount::shrunk(const Level& level) const {
  const double trust = wander() / (wander() + level.variance);
  Level result = level;
  result.time = all_->time + trust * (level.time - all_->time);
  result.variance = trust * level.variance;
  return result;
}

void SlowdownAccount::add_default(const Window& window) {
  const double time = window.time_per_iteration->value();
  if (!(time > 0) || !(window.iterations > 0)) return;
  const double error = std::max(window.time_error.value_or(kUnknownError), kLeastError);
  const Level level{time, window.iterations, error * error};
  merge(all_, level);
  merge(open_.iterations > 0 ? after_ : before_, level);
}

void SlowdownAccount::add_off_default(Seconds took, double iterations) {
  if (!(took > Seconds(0)) || !(iterations >= 0)) return;
  if (after_) {
    const Loss loss = loss_of(open_);
    closed_.seconds += loss.seconds;
    closed_.variance += loss.variance;
    if (stays_ == 0) stays_ = 1;
    const double off = after_->time / all_->time - 1;
    excess_ += off * off - after_->variance;
    stays_ += 1;
    before_ = after_;
    after_.reset();
    open_ = {};
  }
  if (!before_) return;
  open_.seconds += took.value();
  open_.iterations += iterations;
}

SlowdownAccount::Loss SlowdownAccount::loss_of(const Stretch& stretch) const {
  if (!before_ || stretch.iterations <= 0) return {};
  const Level from = shrunk(*before_);
  double time = from.time;
  double variance = from.variance + wander();
  if (after_) {
    const Level to = shrunk(*after_);
    // Where the default was plainly slower at one end, the other may be what it usually is.
    const double apart = std::abs(from.time - to.time) / all_->time;
    const bool differ = apart > kPlainly * std::sqrt(from.variance + to.variance);
    time = differ ? std::min(from.time, to.time) : (from.time + to.time) / 2;
    variance = (from.variance + to.variance) / 4 + wander() / 2;
  }
  const double usual = stretch.iterations * time;
  return {stretch.seconds - usual, usual * usual * variance};
}

std::optional<Seconds> SlowdownAccount::default_time() const {
  return all_ ? std::optional(Seconds(all_->time)) : std::nullopt;
}

SlowdownAccount::Standing SlowdownAccount::standing() const {
  const Loss open = loss_of(open_);
  return {Seconds(closed_.seconds + open.seconds),
          Seconds(std::sqrt(closed_.variance + open.variance))};
}

}  // namespace hypermile
