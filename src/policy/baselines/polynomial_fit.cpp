// SPDX-License-Identifier: Apache-2.0
#include "policy/baselines/polynomial_fit.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <set>

namespace hypermile {

PolynomialFit::PolynomialFit(std::span<const double> x, std::span<const double> y, int degree) {
  const auto [least, most] = std::ranges::minmax(x);
  centre_ = 0.5 * (least + most);
  if (most > least) scale_ = 0.5 * (most - least);
  const auto different = static_cast<int>(std::set<double>(x.begin(), x.end()).size());
  const int terms = std::clamp(degree + 1, 1, different);
  const auto points = static_cast<Eigen::Index>(x.size());
  Eigen::MatrixXd powers(points, terms);
  Eigen::VectorXd values(points);
  for (Eigen::Index i = 0; i < points; ++i) {
    const auto at = static_cast<std::size_t>(i);
    values(i) = y[at];
    double power = 1;
    for (int k = 0; k < terms; ++k, power *= (x[at] - centre_) / scale_) powers(i, k) = power;
  }
  const Eigen::VectorXd solution = powers.colPivHouseholderQr().solve(values);
  coefficients_.assign(solution.begin(), solution.end());
}

double PolynomialFit::operator()(double x) const {
  double value = 0;
  for (auto c = coefficients_.rbegin(); c != coefficients_.rend(); ++c) {
    value = value * ((x - centre_) / scale_) + *c;
  }
  return value;
}

}  // namespace hypermile
