// SPDX-License-Identifier: Apache-2.0
#include "control/pace_change.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr int kReference = 4;     // values that make the reference
constexpr double kFollow = 0.02;  // how fast the reference follows afterwards
constexpr double kForget = 0.95;  // of a sum, from value to value
constexpr double kProof = 5;      // sums beyond so many allowances
// Of them, however far off one value is: a checkpoint is no change.
constexpr double kMostAtOnce = 2;
constexpr double kNoise = 1.25;  // standard deviations that never count
constexpr double kLearnNoise = 0.1;

}  // namespace

std::optional<ChangeTest::Change> ChangeTest::add(double value) {
  if (!std::isfinite(value) || value <= 0) return std::nullopt;
  const double x = std::log(value);
  ++values_;
  if (values_ > 1) {
    const double half = (x - previous_) * (x - previous_) / 2;
    const double weight = std::max(kLearnNoise, 1.0 / (values_ - 1));
    // A jump is what is looked for, not noise.
    const double most = values_ > kReference ? 4 * variance_ + allowance_ * allowance_ / 4 : half;
    variance_ += weight * (std::min(half, most) - variance_);
  }
  previous_ = x;
  if (values_ <= kReference) {
    reference_ += (x - reference_) / values_;
    return std::nullopt;
  }
  const double slack = std::max(allowance_, kNoise * std::sqrt(variance_));
  const auto sum = [&](double excess, double& total, double& recent, int& since) {
    total = std::max(0.0, kForget * total + std::min(excess - slack, kMostAtOnce * slack));
    since = total > 0 ? since + 1 : 0;
    recent = since > 0 ? recent + (x - recent) / since : 0;
    return total > kProof * slack;
  };
  const double off = x - reference_;
  const bool up = sum(off, up_, recent_up_, since_up_);
  const bool down = sum(-off, down_, recent_down_, since_down_);
  if (up || down) {
    return Change{std::exp(reference_), std::exp(up ? recent_up_ : recent_down_)};
  }
  if (up_ <= 0 && down_ <= 0) reference_ += kFollow * off;
  return std::nullopt;
}

}  // namespace hypermile
