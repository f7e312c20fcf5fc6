// SPDX-License-Identifier: Apache-2.0
//
// Gaussian-process regression of one measured quantity (ln time or ln power) on blocks of windows,
// for many mean functions at once. A measured value is the default's unknown level, plus what a
// physics model (a particle) says of the Setting, plus what the model misses, which is smooth along
// the slice, plus the job's slow drift, plus noise. Particles share the covariance, and blocks at
// one Setting share the particle's value, so everything per particle happens in the space of
// Settings seen.
#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

#include "policy/observations.h"

namespace hypermile {

// How much of a quantity the physics models miss.
struct Misfit {
  double smooth = 0;  // standard deviation of the smooth part
  double reach = 1;   // over which it is smooth, in log ratio
  double jitter = 0;  // of single Settings
  double level = 0;   // of a level that all points but the default share
};

// Where points stand: position on the axis, and how much misfit each can have (0 at the default).
struct Axis {
  std::vector<double> position;
  std::vector<double> scale;
};

// Blocks by point of a slice.
struct SeenBlocks {
  std::vector<Block> blocks;
  std::vector<std::size_t> point;   // of each block
  std::vector<std::size_t> points;  // distinct, in order of appearance
  std::vector<std::size_t> which;   // of each block, index into `points`
};

class Conditioning {
 public:
  // `values` are per block. ok() is false where the numbers are beyond reason.
  Conditioning(const Axis& axis, const Misfit& misfit, const DriftModel& drift,
               const SeenBlocks& seen, const Eigen::VectorXd& values, double noise);

  bool ok() const { return ok_; }

  // Of each particle, given what it predicts at the points seen (particles x points seen).
  void weigh(const Eigen::MatrixXd& predicted);
  const Eigen::ArrayXd& log_likelihood() const { return log_likelihood_; }
  // The particles to correct, in this order.
  void keep(const std::vector<Eigen::Index>& particles);
  // What each particle's prediction at a point must be corrected by.
  Eigen::ArrayXf corrections(Eigen::Index point) const {
    return (kept_pull_ * cross_.row(point).transpose().cast<float>()).array();
  }
  // Variance of a point's ratio to the default around a particle's corrected prediction.
  double variance(Eigen::Index point) const { return variance_(point); }

 private:
  double misfit_covariance(const Axis& axis, const Misfit& misfit, std::size_t i,
                           std::size_t j) const;
  Eigen::MatrixXd covariance(const Axis& axis, const Misfit& misfit, const DriftModel& drift,
                             const SeenBlocks& seen, double noise) const;
  void predict(const Axis& axis, const Misfit& misfit, const SeenBlocks& seen);

  bool ok_ = false;
  // With C the covariance, z the values and S the incidence of blocks and points seen:
  Eigen::MatrixXd precision_;   // S'C⁻¹S
  Eigen::VectorXd pull_;        // S'C⁻¹z
  Eigen::VectorXd ones_;        // S'C⁻¹1
  double level_precision_ = 0;  // 1'C⁻¹1
  double level_pull_ = 0;       // 1'C⁻¹z
  double square_ = 0;           // z'C⁻¹z
  Eigen::MatrixXd cross_;       // misfit covariance, all points x points seen
  Eigen::VectorXd variance_;
  Eigen::ArrayXd log_likelihood_;
  Eigen::MatrixXd pull_of_particle_;  // particles x points seen
  Eigen::MatrixXf kept_pull_;         // the same of those kept
};

}  // namespace hypermile
