// SPDX-License-Identifier: Apache-2.0
#include "measure/window_mean.h"

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace hypermile {

Estimate scaled(const Estimate& estimate, double factor) {
  Estimate result{estimate.value * factor, estimate.half_width95};
  if (result.half_width95) *result.half_width95 *= std::abs(factor);
  return result;
}

Estimate sum_of(const Estimate& a, const Estimate& b) {
  Estimate sum{a.value + b.value};
  if (a.half_width95 && b.half_width95) {
    sum.half_width95 = std::hypot(*a.half_width95, *b.half_width95);
  }
  return sum;
}

Estimate relative_change(const Estimate& a, const Estimate& b) {
  const double ratio = a.value / b.value;
  Estimate change{ratio - 1};
  if (a.half_width95 && b.half_width95) {
    change.half_width95 =
        std::abs(ratio) * std::hypot(*a.half_width95 / a.value, *b.half_width95 / b.value);
  }
  return change;
}

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

std::optional<double> WindowMean::half_width95() const {
  if (weight_ <= 0) return std::nullopt;
  if (windows_ == 1) {
    if (!own_error_) return std::nullopt;
    return normal_half_width95() * *own_error_ * std::abs(origin_);
  }
  const double mean = weighted_ / weight_;
  const double scatter = squares2_ - 2 * mean * weighted2_ + mean * mean * weight2_;
  const double variance = std::max(0.0, scatter) / (weight_ * weight_) * windows_ / (windows_ - 1);
  return student_half_width95(windows_ - 1) * std::sqrt(variance);
}

std::optional<Estimate> WindowMean::estimate() const {
  const std::optional<double> value = mean();
  if (!value) return std::nullopt;
  return Estimate{*value, half_width95()};
}

}  // namespace hypermile
