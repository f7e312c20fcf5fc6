// SPDX-License-Identifier: Apache-2.0
//
// Mean and (population) standard deviation of a non-empty series, as GPOEO's detector uses them.
#pragma once

#include <cmath>
#include <numeric>
#include <span>

namespace hypermile {

inline double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

inline double deviation_of(std::span<const double> values) {
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

}  // namespace hypermile
