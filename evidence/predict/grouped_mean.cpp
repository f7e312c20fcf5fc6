// SPDX-License-Identifier: Apache-2.0
#include "evidence/predict/grouped_mean.h"

#include <cmath>

namespace hypermile {

void GroupedMean::add(const std::string& group, double value) {
  groups_[group].sum += value;
  groups_[group].rows += 1;
}

double GroupedMean::mean() const {
  double sum = 0;
  double rows = 0;
  for (const auto& group : groups_) {
    sum += group.second.sum;
    rows += group.second.rows;
  }
  return rows > 0 ? sum / rows : 0;
}

double GroupedMean::standard_error() const {
  if (groups_.size() < 2) return 0;
  const double usual = mean();
  double squares = 0;
  double rows = 0;
  for (const auto& group : groups_) {
    squares += std::pow(group.second.sum - usual * group.second.rows, 2);
    rows += group.second.rows;
  }
  const auto n = static_cast<double>(groups_.size());
  return std::sqrt(n / (n - 1) * squares) / rows;
}

}  // namespace hypermile
