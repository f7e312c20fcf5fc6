// SPDX-License-Identifier: Apache-2.0
#include "base/statistics.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace hypermile {

double normal_cdf(double x) {
  return boost::math::cdf(boost::math::normal(), x);
}

double normal_quantile(double probability) {
  return boost::math::quantile(boost::math::normal(), probability);
}

double student_quantile(double probability, double freedom) {
  return boost::math::quantile(boost::math::students_t(freedom), probability);
}

double student_half_width95(double freedom) {
  return student_quantile(0.975, freedom);
}

double upper_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace hypermile
