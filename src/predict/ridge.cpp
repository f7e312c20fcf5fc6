// SPDX-License-Identifier: Apache-2.0
#include "predict/ridge.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

// The strength of the pull towards the mean, in jobs of average leverage.
constexpr double kPull = 3;
// Standardised features are limited to this many standard deviations.
constexpr double kFarOut = 3;
constexpr double kLeastScale = 1e-6;

using Terms = std::array<double, kRidgeTerms>;

Terms terms_of(const Ridge& ridge, const Inputs& inputs) {
  Terms terms = {};
  terms[0] = 1;
  for (std::size_t i = 1; i < kRidgeTerms; ++i) {
    const double x = static_cast<double>(inputs[kRidgeInputs[i - 1]]);
    if (ridge.scale[i] <= 0 || std::isnan(x)) continue;
    terms[i] = std::clamp((x - ridge.mean[i]) / ridge.scale[i], -kFarOut, kFarOut);
  }
  return terms;
}

void standardise(const std::vector<RidgeRow>& rows, Ridge& ridge) {
  for (std::size_t i = 1; i < kRidgeTerms; ++i) {
    double n = 0;
    double sum = 0;
    double squares = 0;
    for (const RidgeRow& row : rows) {
      const double x = static_cast<double>(row.inputs[kRidgeInputs[i - 1]]);
      if (std::isnan(x)) continue;
      n += 1;
      sum += x;
      squares += x * x;
    }
    if (n < 2) continue;
    ridge.mean[i] = sum / n;
    const double deviation = std::sqrt(std::max(0.0, squares / n - ridge.mean[i] * ridge.mean[i]));
    ridge.scale[i] = deviation > kLeastScale ? deviation : 0;
  }
}

}  // namespace

double Ridge::value(const Inputs& inputs, double lever) const {
  const Terms terms = terms_of(*this, inputs);
  double v = 0;
  for (std::size_t i = 0; i < kRidgeTerms; ++i) v += terms[i] * (level[i] + bend[i] * lever);
  return v;
}

Ridge fit_ridge(const std::vector<RidgeRow>& rows) {
  Ridge ridge;
  if (rows.empty()) return ridge;
  standardise(rows, ridge);
  const auto n = static_cast<Eigen::Index>(2 * kRidgeTerms);
  Eigen::MatrixXd normal = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(n);
  Eigen::VectorXd design(n);
  double leverage = 0;
  double weights = 0;
  for (const RidgeRow& row : rows) {
    const Terms terms = terms_of(ridge, row.inputs);
    for (std::size_t i = 0; i < kRidgeTerms; ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      design[at] = terms[i] * row.lever;
      design[at + n / 2] = terms[i] * row.lever * row.lever;
    }
    normal += row.weight * design * design.transpose();
    right += row.weight * row.target * row.lever * design;
    leverage += row.weight * row.lever * row.lever;
    weights += row.weight;
  }
  const double pull = weights > 0 ? kPull * leverage / weights : 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    normal(i, i) += i == 0 || i == n / 2 ? 1e-6 * pull + 1e-12 : pull + 1e-12;
  }
  const Eigen::VectorXd solution = normal.ldlt().solve(right);
  for (std::size_t i = 0; i < kRidgeTerms; ++i) {
    ridge.level[i] = solution[static_cast<Eigen::Index>(i)];
    ridge.bend[i] = solution[static_cast<Eigen::Index>(i) + n / 2];
  }
  return ridge;
}

Result<void> check(const Ridge& ridge) {
  for (const Terms* numbers : {&ridge.mean, &ridge.scale, &ridge.level, &ridge.bend}) {
    if (!std::ranges::all_of(*numbers, [](double x) { return std::isfinite(x); })) {
      return Error{ErrorCode::kParse, "its linear forms are damaged"};
    }
  }
  return {};
}

}  // namespace hypermile
