// SPDX-License-Identifier: Apache-2.0
#include "policy/baselines/polynomial_fit.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <set>

namespace hypermile {

PolynomialFit::PolynomialFit(std::span<const double> x, std::span<const double> y, int degree,
                             Degree kind) {
  const auto different = static_cast<int>(std::set<double>(x.begin(), x.end()).size());
  const bool determined = kind == Degree::kWhatPointsDetermine || different > degree;
  if (determined) {
    const auto [least, most] = std::ranges::minmax(x);
    centre_ = 0.5 * (least + most);
    if (most > least) scale_ = 0.5 * (most - least);
  }
  const int terms = determined ? std::clamp(degree + 1, 1, different) : degree + 1;
  const auto points = static_cast<Eigen::Index>(x.size());
  Eigen::MatrixXd powers(points, terms);
  Eigen::VectorXd values(points);
  for (Eigen::Index i = 0; i < points; ++i) {
    const auto at = static_cast<std::size_t>(i);
    values(i) = y[at];
    double power = 1;
    for (int k = 0; k < terms; ++k, power *= (x[at] - centre_) / scale_) powers(i, k) = power;
  }
  Eigen::VectorXd solution;
  if (determined) {
    solution = powers.colPivHouseholderQr().solve(values);
  } else {
    Eigen::VectorXd norms = powers.colwise().norm().transpose();
    norms = (norms.array() > 0).select(norms, 1.0);
    const Eigen::MatrixXd scaled = powers * norms.cwiseInverse().asDiagonal();
    solution = scaled.completeOrthogonalDecomposition().solve(values).cwiseQuotient(norms);
  }
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
