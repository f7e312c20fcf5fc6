// SPDX-License-Identifier: Apache-2.0
//
// A polynomial through measured points by least squares, unweighted.
#pragma once

#include <span>
#include <vector>

namespace hypermile {

class PolynomialFit {
 public:
  // `x` and `y` of equal length, one point or more. The degree is lowered to what the number of
  // different x can determine.
  PolynomialFit(std::span<const double> x, std::span<const double> y, int degree);

  double operator()(double x) const;

 private:
  double centre_ = 0;
  double scale_ = 1;
  std::vector<double> coefficients_;
};

}  // namespace hypermile
