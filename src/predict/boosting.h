// SPDX-License-Identifier: Apache-2.0
//
// Trains gradient-boosted trees with XGBoost, and is the only file that knows that library:
// everything else works with the Forest that it returns. Called by fit_model.cpp, from several
// threads at once.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "predict/forest.h"

namespace hypermile {

struct BoostingRows {
  std::vector<Inputs> inputs;
  std::vector<float> targets;
  std::vector<float> weights;
};

// Which way the target may go as an input grows: 1 up, -1 down, 0 either.
using Directions = std::array<signed char, kInputCount>;

struct BoostingOptions {
  int rounds = 120;
  int depth = 3;
  double rate = 0.1;
  double rows = 0.7;     // share of the rows that each tree sees
  double columns = 0.7;  // share of the inputs that each tree sees
  std::uint64_t seed = 1;
  Directions directions = {};
};

// The same rows and options give the same trees. Returns kUsage without rows, and kInternal with
// XGBoost's own message where XGBoost fails.
Result<Forest> boost(const BoostingRows& rows, const BoostingOptions& options);

}  // namespace hypermile
