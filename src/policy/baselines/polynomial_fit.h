// SPDX-License-Identifier: Apache-2.0
//
// A polynomial through measured points by least squares, unweighted.
#pragma once

#include <span>
#include <vector>

namespace hypermile {

class PolynomialFit {
 public:
  enum class Degree {
    kWhatPointsDetermine,  // lowered to what the number of different x can determine
    // Kept, and of many solutions the one of least norm, with columns scaled to norm 1: what
    // NumPy's polyfit gives for too few points.
    kAsAsked,
  };
  // `x` and `y` of equal length, one point or more.
  PolynomialFit(std::span<const double> x, std::span<const double> y, int degree,
                Degree kind = Degree::kWhatPointsDetermine);

  double operator()(double x) const;

 private:
  double centre_ = 0;
  double scale_ = 1;
  std::vector<double> coefficients_;
};

}  // namespace hypermile
