// SPDX-License-Identifier: Apache-2.0
//
// The analytic form: how strongly a ratio follows its lever is linear in a few features that
// physics knows, and bends a little along the lever. Ridge regression pulls towards the mean of the
// training jobs, which is also what holds where features are missing.
#pragma once

#include <array>
#include <vector>

#include "base/result.h"
#include "predict/inputs.h"

namespace hypermile {

// What the form looks at.
inline constexpr std::size_t kRidgeInputs[] = {
    Features::index(Feature::kPowerShare),
    Features::index(Feature::kSmActive),
    Features::index(Feature::kSmOccupancy),
    Features::index(Feature::kDramActive),
    Features::index(Feature::kGpuUtilization),
    kCorePeak,
    kCoreToMemory,
    kDramPerSm,
    kMemoryRatio,
};
inline constexpr std::size_t kRidgeTerms = 1 + std::size(kRidgeInputs);

struct Ridge {
  std::array<double, kRidgeTerms> mean = {};   // of each input; [0] unused
  std::array<double, kRidgeTerms> scale = {};  // standard deviation; 0: not used
  std::array<double, kRidgeTerms> level = {};  // v = level · φ + bend · φ × lever
  std::array<double, kRidgeTerms> bend = {};

  double value(const Inputs& inputs, double lever) const;
};

struct RidgeRow {
  Inputs inputs;
  double lever = 0;
  double target = 0;  // v
  double weight = 1;  // of the squared error of v · lever
};

Ridge fit_ridge(const std::vector<RidgeRow>& rows);
// All numbers are finite. kParse otherwise.
Result<void> check(const Ridge& ridge);

}  // namespace hypermile
