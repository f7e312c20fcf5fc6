// SPDX-License-Identifier: Apache-2.0
//
// The mean of one quantity over Windows, weighed by their iterations, with its standard error.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

namespace hypermile {

struct WeighedMean {
  double mean = 0;
  std::optional<double> error;  // standard error of the mean; absent where nothing tells it
};

class WeightedMean {
 public:
  // `error` is what the Window says of its own standard error; it counts while there is but one.
  void add(double value, double weight, std::optional<double> error = std::nullopt) {
    ++count_;
    weight_ += weight;
    sum_ += weight * value;
    squares_ += weight * value * value;
    own_error_ = error;
  }
  bool empty() const { return count_ == 0; }
  // Only where it is not empty.
  WeighedMean estimate() const {
    WeighedMean result{sum_ / weight_, own_error_};
    if (count_ > 1) {
      const double variance = std::max(0.0, squares_ / weight_ - result.mean * result.mean);
      result.error = std::sqrt(variance / (count_ - 1));
    }
    return result;
  }

 private:
  int count_ = 0;
  double weight_ = 0;
  double sum_ = 0;
  double squares_ = 0;
  std::optional<double> own_error_;
};

}  // namespace hypermile
