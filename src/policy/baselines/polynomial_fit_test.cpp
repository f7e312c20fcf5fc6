// SPDX-License-Identifier: Apache-2.0
#include "policy/baselines/polynomial_fit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hypermile {
namespace {

TEST(PolynomialFit, RecoversACubic) {
  const std::vector<double> x = {600, 800, 1000, 1200, 1400};
  std::vector<double> y;
  for (const double v : x) y.push_back(3 - 2e-3 * v + 1e-6 * v * v - 2e-10 * v * v * v);

  const PolynomialFit fit(x, y, 3);

  EXPECT_NEAR(fit(900), 3 - 1.8 + 0.81 - 0.1458, 1e-9);
}

TEST(PolynomialFit, LowersTheDegreeToWhatThePointsDetermine) {
  EXPECT_NEAR(PolynomialFit(std::vector{1.0}, std::vector{5.0}, 3)(7), 5, 1e-12);
  EXPECT_NEAR(PolynomialFit(std::vector{1.0, 3.0}, std::vector{5.0, 9.0}, 3)(2), 7, 1e-12);
  EXPECT_NEAR(PolynomialFit(std::vector{2.0, 2.0}, std::vector{4.0, 6.0}, 3)(2), 5, 1e-12);
}

TEST(PolynomialFit, KeepsTheDegreeAskedForAndGoesThroughTooFewPoints) {
  const PolynomialFit fit(std::vector{0.5, 1.0}, std::vector{5.0, 9.0}, 3,
                          PolynomialFit::Degree::kAsAsked);

  EXPECT_NEAR(fit(0.5), 5, 1e-9);
  EXPECT_NEAR(fit(1.0), 9, 1e-9);
  EXPECT_GT(std::abs(fit(0.75) - 7), 0.01);  // no straight line
}

}  // namespace
}  // namespace hypermile
