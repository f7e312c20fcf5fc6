// SPDX-License-Identifier: Apache-2.0
#include "policy/baselines/pid_gain.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr double kP = 2.8;
constexpr double kI = 0.002;
constexpr double kD = 0.9;
constexpr double kDeadBand = 0.01;  // of the target
constexpr double kMostBoost = 8;
constexpr double kMostDelta = 0.5;  // in one step, whatever was measured
constexpr double kFlat = 0.1;       // slowdown per relative change of the ceiling: no effect

}  // namespace

double PidGain::schedule(double slowdown, double height) {
  if (!last_) return 0.7;
  const double over = slowdown - target_;
  if (over > 0) {
    boost_ = 1;
    return over < 0.003 ? 4 : over < 0.006 ? 2.5 : over < 0.025 ? 1.75 : 1;
  }
  const double lowered = last_->height - height;
  const double rise = slowdown - last_->slowdown;
  const bool flat = rise <= kFlat * lowered;
  if (slowdown < 0.2 * target_ && flat) {
    boost_ = std::min(boost_ * 1.5, kMostBoost);
    return boost_;
  }
  boost_ = 1;
  if (slowdown < 0.5 * target_ && rise * lowered > 0) return 1.75;
  return -over <= 0.04 ? 0.75 : 2.2;
}

double PidGain::delta(double slowdown, double height) {
  error_ = target_ - slowdown;
  double integral = kI;
  if (last_ && last_->error * error_ < 0) {
    sum_ = 0;
    integral = 0;
  }
  sum_ += error_;
  const double change = last_ ? error_ - last_->error : 0;
  const bool damp = change * error_ < 0 && std::abs(change) > 0.5 * target_;
  const double delta =
      kP * schedule(slowdown, height) * error_ + integral * sum_ + (damp ? kD * change : 0);
  last_ = Last{slowdown, height, error_};
  return std::clamp(delta, -kMostDelta, kMostDelta);
}

bool PidGain::settled() const {
  return last_ && std::abs(error_) <= kDeadBand * std::abs(target_);
}

}  // namespace hypermile
