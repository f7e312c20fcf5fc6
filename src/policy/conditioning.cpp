// SPDX-License-Identifier: Apache-2.0
#include "policy/conditioning.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr double kTinyVariance = 1e-7;    // keeps the covariance well conditioned
constexpr double kLeastVariance = 1e-10;  // of a prediction

}  // namespace

Conditioning::Conditioning(const Axis& axis, const Misfit& misfit, const DriftModel& drift,
                           const SeenBlocks& seen, const Eigen::VectorXd& values, double noise) {
  const auto m = static_cast<Eigen::Index>(seen.blocks.size());
  const auto d = static_cast<Eigen::Index>(seen.points.size());
  const Eigen::LLT<Eigen::MatrixXd> factor(covariance(axis, misfit, drift, seen, noise));
  if (factor.info() != Eigen::Success) return;
  Eigen::MatrixXd right = Eigen::MatrixXd::Zero(m, d + 2);  // S, 1, z
  for (Eigen::Index b = 0; b < m; ++b) {
    right(b, static_cast<Eigen::Index>(seen.which[static_cast<std::size_t>(b)])) = 1;
  }
  right.col(d).setOnes();
  // Only differences matter; small numbers keep their digits.
  right.col(d + 1) = values.array() - values.mean();
  const Eigen::MatrixXd half = factor.matrixL().solve(right);
  const Eigen::MatrixXd gram = half.transpose() * half;
  precision_ = gram.topLeftCorner(d, d);
  ones_ = gram.col(d).head(d);
  pull_ = gram.col(d + 1).head(d);
  level_precision_ = gram(d, d);
  level_pull_ = gram(d, d + 1);
  square_ = gram(d + 1, d + 1);
  predict(axis, misfit, seen);
  ok_ = gram.allFinite() && variance_.allFinite() && level_precision_ > 0;
}

double Conditioning::misfit_covariance(const Axis& axis, const Misfit& misfit, std::size_t i,
                                       std::size_t j) const {
  if (i == 0 || j == 0) return 0;  // ratios are to the default, which has none
  const double apart = (axis.position[i] - axis.position[j]) / misfit.reach;
  const double scale = axis.scale[i] * axis.scale[j];
  const double single = i == j ? misfit.jitter * misfit.jitter : 0;
  return scale * (misfit.smooth * misfit.smooth * std::exp(-0.5 * apart * apart) + single) +
         misfit.level * misfit.level;
}

Eigen::MatrixXd Conditioning::covariance(const Axis& axis, const Misfit& misfit,
                                         const DriftModel& drift, const SeenBlocks& seen,
                                         double noise) const {
  const auto m = static_cast<Eigen::Index>(seen.blocks.size());
  Eigen::MatrixXd c(m, m);
  for (Eigen::Index a = 0; a < m; ++a) {
    const auto row = static_cast<std::size_t>(a);
    for (Eigen::Index b = 0; b <= a; ++b) {
      const auto column = static_cast<std::size_t>(b);
      const double apart = std::abs(seen.blocks[row].at - seen.blocks[column].at);
      c(a, b) = misfit_covariance(axis, misfit, seen.point[row], seen.point[column]) +
                drift.sd * drift.sd * std::exp(-apart / drift.iterations);
    }
    c(a, a) += noise * noise / seen.blocks[row].windows + kTinyVariance;
  }
  return c;
}

void Conditioning::predict(const Axis& axis, const Misfit& misfit, const SeenBlocks& seen) {
  const auto g = static_cast<Eigen::Index>(axis.position.size());
  const auto d = static_cast<Eigen::Index>(seen.points.size());
  cross_.resize(g, d);
  for (Eigen::Index i = 0; i < g; ++i) {
    for (Eigen::Index j = 0; j < d; ++j) {
      cross_(i, j) = misfit_covariance(axis, misfit, static_cast<std::size_t>(i),
                                       seen.points[static_cast<std::size_t>(j)]);
    }
  }
  const Eigen::MatrixXd gain = cross_ * precision_;
  const Eigen::VectorXd level = cross_ * ones_;
  variance_.resize(g);
  for (Eigen::Index i = 0; i < g; ++i) {
    const auto point = static_cast<std::size_t>(i);
    const double explained = gain.row(i).dot(cross_.row(i));
    const double from_level = level(i) * level(i) / level_precision_;
    variance_(i) = std::max(misfit_covariance(axis, misfit, point, point) - explained + from_level,
                            kLeastVariance);
  }
}

void Conditioning::weigh(const Eigen::MatrixXd& predicted) {
  const Eigen::MatrixXd product = predicted * precision_;
  const Eigen::ArrayXd level_error = level_pull_ - (predicted * ones_).array();
  const Eigen::ArrayXd square = square_ - 2 * (predicted * pull_).array() +
                                product.cwiseProduct(predicted).rowwise().sum().array();
  log_likelihood_ = -0.5 * (square - level_error.square() / level_precision_);
  const Eigen::VectorXd level = (level_error / level_precision_).matrix();
  pull_of_particle_ = (-product - level * ones_.transpose()).rowwise() + pull_.transpose();
}

void Conditioning::keep(const std::vector<Eigen::Index>& particles) {
  kept_pull_.resize(static_cast<Eigen::Index>(particles.size()), pull_of_particle_.cols());
  for (Eigen::Index a = 0; a < kept_pull_.rows(); ++a) {
    kept_pull_.row(a) = pull_of_particle_.row(particles[static_cast<std::size_t>(a)]).cast<float>();
  }
}

}  // namespace hypermile
