// SPDX-License-Identifier: Apache-2.0
#include "measure/window_mean.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hypermile {
namespace {

// Student's t, 97.5 %, for 1, 2, … degrees of freedom.
double t_quantile(int freedom) {
  constexpr std::array<double, 10> kTable = {12.706, 4.303, 3.182, 2.776, 2.571,
                                             2.447,  2.365, 2.306, 2.262, 2.228};
  if (freedom <= static_cast<int>(kTable.size())) {
    return kTable[static_cast<std::size_t>(freedom - 1)];
  }
  return 1.96 + 2.4 / freedom;  // within 0.5 % of the table's continuation
}

}  // namespace

void WindowMean::add(double value, double iterations, std::optional<double> error) {
  if (windows_++ == 0) {
    origin_ = value;
    own_error_ = error;
  }
  const double difference = value - origin_;
  weight_ += iterations;
  weighted_ += iterations * difference;
  weight2_ += iterations * iterations;
  weighted2_ += iterations * iterations * difference;
  squares2_ += iterations * iterations * difference * difference;
}

std::optional<double> WindowMean::mean() const {
  if (weight_ <= 0) return std::nullopt;
  return origin_ + weighted_ / weight_;
}

std::optional<double> WindowMean::interval95() const {
  if (weight_ <= 0) return std::nullopt;
  if (windows_ == 1) {
    if (!own_error_) return std::nullopt;
    return 1.96 * *own_error_ * std::abs(origin_);
  }
  const double mean = weighted_ / weight_;
  const double scatter = squares2_ - 2 * mean * weighted2_ + mean * mean * weight2_;
  const double variance = std::max(0.0, scatter) / (weight_ * weight_) * windows_ / (windows_ - 1);
  return t_quantile(windows_ - 1) * std::sqrt(variance);
}

}  // namespace hypermile
