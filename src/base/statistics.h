// SPDX-License-Identifier: Apache-2.0
//
// Normal and Student's t distributions, used for error bounds and decisions, and the median.
// Boost.Math computes the distributions; this header keeps its templates out of the rest of the
// program. All functions are pure.
#pragma once

#include <vector>

namespace hypermile {

// The probability that a standard normal variable is at most `x`.
double normal_cdf(double x);

// The standard normal value that is exceeded with probability 1 - `probability`, in standard
// deviations. `probability` lies strictly between 0 and 1.
double normal_quantile(double probability);

// The same for Student's t distribution. `freedom` is the number of degrees of freedom, more
// than 0.
double student_quantile(double probability, double freedom);

// Half the width of a two-sided 95 % interval, in standard errors: 1.96 where the standard error is
// known, more where `freedom` degrees of freedom estimate it.
inline double normal_half_width95() {
  return 1.959963984540054;
}
double student_half_width95(double freedom);

// The middle value, the upper one of two; `values` must not be empty.
double upper_median(std::vector<double> values);

}  // namespace hypermile
