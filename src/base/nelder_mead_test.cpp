// SPDX-License-Identifier: Apache-2.0
#include "base/nelder_mead.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hypermile {
namespace {

TEST(NelderMead, FindsTheLowestPointOfACurvedValley) {
  const auto valley = [](const std::vector<double>& x) {
    return std::pow(1 - x[0], 2) + 100 * std::pow(x[1] - x[0] * x[0], 2);
  };

  const Minimum found = nelder_mead(valley, {-1, 1}, 0.5, 400);

  EXPECT_NEAR(found.at[0], 1, 1e-3);
  EXPECT_NEAR(found.at[1], 1, 1e-3);
}

}  // namespace
}  // namespace hypermile
