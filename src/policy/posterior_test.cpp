// SPDX-License-Identifier: Apache-2.0
#include "policy/posterior.h"

#include <gtest/gtest.h>

#include <cmath>

#include "policy/physics.h"

namespace hypermile {
namespace {

const Axis kAxis{{0, -0.05, -0.1, -0.2}, {0, 1, 1, 1}};
const Misfit kMisfit{.smooth = 0.01, .reach = 0.1, .jitter = 0.003, .level = 0.002};
const DriftModel kDrift;

SeenBlocks five_blocks() {
  SeenBlocks seen;
  seen.blocks = {
      {0, 10, 2, 0, 0}, {1, 60, 1, 0, 0}, {0, 120, 1, 0, 0}, {2, 160, 1, 0, 0}, {1, 220, 3, 0, 0}};
  seen.point = {0, 1, 0, 2, 1};
  seen.points = {0, 1, 2};
  seen.which = {0, 1, 0, 2, 1};
  return seen;
}

double covariance(std::size_t i, std::size_t j) {
  if (i == 0 || j == 0) return 0;
  const double apart = (kAxis.position[i] - kAxis.position[j]) / kMisfit.reach;
  const double single = i == j ? kMisfit.jitter * kMisfit.jitter : 0;
  return kMisfit.smooth * kMisfit.smooth * std::exp(-apart * apart / 2) + single +
         kMisfit.level * kMisfit.level;
}

// The textbook way: the unknown level as one more Gaussian with a vast variance, the joint
// covariance of measurements and the point asked for, and its Schur complement.
struct BruteForce {
  double mean = 0;
  double variance = 0;
  double log_likelihood = 0;  // up to a constant
};

BruteForce brute_force(const Eigen::VectorXd& errors, std::size_t point, double noise) {
  const SeenBlocks seen = five_blocks();
  Eigen::MatrixXd c(5, 5);
  Eigen::VectorXd cross(5);
  for (std::size_t a = 0; a < 5; ++a) {
    for (std::size_t b = 0; b < 5; ++b) {
      const double apart = std::abs(seen.blocks[a].at - seen.blocks[b].at);
      c(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) =
          covariance(seen.point[a], seen.point[b]) + 1e4 +
          kDrift.sd * kDrift.sd * std::exp(-apart / kDrift.iterations) +
          (a == b ? noise * noise / seen.blocks[a].windows + 1e-7 : 0);
    }
    cross(static_cast<Eigen::Index>(a)) = covariance(point, seen.point[a]);
  }
  const Eigen::MatrixXd inverse = c.fullPivLu().inverse();
  return {cross.dot(inverse * errors), covariance(point, point) - cross.dot(inverse * cross),
          -0.5 * errors.dot(inverse * errors)};
}

TEST(Conditioning, AgreesWithBruteForceOnASmallCase) {
  const SeenBlocks seen = five_blocks();
  Eigen::VectorXd values(5);
  values << 1.001, 1.052, 0.998, 1.101, 1.047;
  Eigen::MatrixXd predicted(2, 3);  // two particles at the points seen
  predicted << 0, 0.04, 0.08, 0, 0.06, 0.13;
  Conditioning conditioning(kAxis, kMisfit, kDrift, seen, values, 0.01);
  ASSERT_TRUE(conditioning.ok());
  conditioning.weigh(predicted);
  conditioning.keep({0, 1});

  double likelihood[2];
  for (Eigen::Index k = 0; k < 2; ++k) {
    Eigen::VectorXd errors = values;
    for (Eigen::Index b = 0; b < 5; ++b) {
      errors(b) -= predicted(k, static_cast<Eigen::Index>(seen.which[static_cast<std::size_t>(b)]));
    }
    for (std::size_t point = 1; point < 4; ++point) {
      const BruteForce expected = brute_force(errors, point, 0.01);
      const auto at = static_cast<Eigen::Index>(point);
      EXPECT_NEAR(conditioning.corrections(at)(k), expected.mean, 1e-6) << point;
      EXPECT_NEAR(conditioning.variance(at), expected.variance, 1e-8) << point;
      likelihood[k] = expected.log_likelihood;
    }
  }
  EXPECT_NEAR(conditioning.log_likelihood()(0) - conditioning.log_likelihood()(1),
              likelihood[0] - likelihood[1], 1e-4);
}

TEST(Conditioning, RefusesNumbersBeyondReason) {
  Eigen::VectorXd values = Eigen::VectorXd::Constant(5, std::nan(""));

  EXPECT_FALSE(Conditioning(kAxis, kMisfit, kDrift, five_blocks(), values, 0.01).ok());
}

Slice twenty_clocks() {
  Slice slice;
  slice.points.push_back({});
  for (std::size_t i = 1; i <= 20; ++i) {
    const double y = 1 - 0.02 * static_cast<double>(i);
    slice.points.push_back({i, y, std::log(y)});
  }
  return slice;
}

TEST(Posterior, FindsTheBoundOfAJobThatFollowsOneOfItsModels) {
  const Slice slice = twenty_clocks();
  const Physics truth{.fixed_share = 0.2, .core_share = 0.7, .overlap = 2, .knee = 2.5};
  const Posterior posterior(slice, tabulate(*prior_grid(512, ""), slice, 1));
  std::vector<Block> blocks = {{0, 60, 4, 0, 0}};
  for (const std::size_t i : {3U, 6U}) {
    const double y = slice.points[i].ratio;
    blocks.push_back({i, 100.0 * static_cast<double>(i), 4, std::log(truth.time_ratio(y)),
                      std::log(truth.power_ratio(y))});
  }
  const auto beliefs = posterior.believe(blocks, {0.002, 0.002}, Objective{}, Watts(300));

  ASSERT_TRUE(beliefs.has_value());
  for (std::size_t i = 1; i <= 7; ++i) {
    const double y = slice.points[i].ratio;
    EXPECT_NEAR((*beliefs)[i].slowdown, truth.time_ratio(y) - 1, 0.015) << y;
    EXPECT_NEAR((*beliefs)[i].score, truth.time_ratio(y) * truth.power_ratio(y), 0.03) << y;
  }
  EXPECT_GT((*beliefs)[1].safe, 0.95);
  EXPECT_LT((*beliefs)[12].safe, 0.1);
}

TEST(ParticleTable, InterpolatesWhatThePhysicsSays) {
  const std::vector<Physics> particles = {Physics{}, Physics{.core_share = 0.9, .overlap = 6}};
  const Slice slice = twenty_clocks();
  const ParticleTable table = tabulate(ParticleGrid(particles), slice, 1);

  for (Eigen::Index i = 1; i < table.log_time.cols(); ++i) {
    const double y = slice.points[static_cast<std::size_t>(i)].ratio;
    EXPECT_NEAR(table.log_time(1, i), std::log(particles[1].time_ratio(y)), 2e-4);
    EXPECT_NEAR(table.log_power(0, i), std::log(particles[0].power_ratio(y)), 2e-4);
  }
}

TEST(ParticleTable, UnderALimitPowerFollowsItAndTimeFollowsPower) {
  Slice slice;
  slice.limits = true;
  slice.points = {{0, 1.2, 0}, {1, 0.9, -0.1}, {2, 0.6, -0.4}};
  const ParticleTable table = tabulate(*prior_grid(64, ""), slice, 1);

  for (Eigen::Index k = 0; k < 64; ++k) {
    EXPECT_LE(table.log_power(k, 2), table.log_power(k, 1));
    EXPECT_GE(table.log_time(k, 2), table.log_time(k, 1) - 1e-12);
    EXPECT_GE(table.log_time(k, 1), -1e-12);
  }
}

TEST(Posterior, ThereIsNothingToBelieveWithoutTheDefault) {
  const Slice slice = twenty_clocks();
  const Posterior posterior(slice, tabulate(*prior_grid(64, ""), slice, 1));
  const std::vector<Block> blocks = {{3, 10, 1, 0, 0}};

  EXPECT_FALSE(posterior.believe(blocks, {}, Objective{}, Watts(300)).has_value());
}

TEST(Posterior, APowerBudgetIsPartOfBeingSafe) {
  const Slice slice = twenty_clocks();
  const Posterior posterior(slice, tabulate(*prior_grid(256, ""), slice, 1));
  Objective objective;
  objective.max_slowdown.reset();
  objective.power_budget = Watts(240);
  const std::vector<Block> blocks = {{0, 10, 4, 0, std::log(300.0)},
                                     {5, 60, 4, 0.01, std::log(270.0)},
                                     {10, 90, 4, 0.02, std::log(230.0)}};
  const auto beliefs = posterior.believe(blocks, {0.002, 0.002}, objective, Watts(300));

  ASSERT_TRUE(beliefs.has_value());
  EXPECT_EQ((*beliefs)[0].safe_power, 0);
  EXPECT_LT((*beliefs)[5].safe, 0.05);
  EXPECT_GT((*beliefs)[11].safe, 0.9);
}

}  // namespace
}  // namespace hypermile
