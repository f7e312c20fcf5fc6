// SPDX-License-Identifier: Apache-2.0
//
// The analytic form of a relation: how strongly a ratio follows its lever is linear in a few
// features chosen by physics, and changes a little along the lever. Ridge regression pulls the
// coefficients towards the mean of the training jobs, which is also the prediction where features
// are missing. Called by fit_model.cpp and Member.
#pragma once

#include <array>
#include <vector>

#include "base/result.h"
#include "predict/inputs.h"

namespace hypermile {

// The inputs that the form uses.
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
  std::array<double, kRidgeTerms> mean = {};   // of each input; [0] is unused
  std::array<double, kRidgeTerms> scale = {};  // standard deviation; 0 where the input is not used
  std::array<double, kRidgeTerms> level = {};  // v = (level + bend × lever) · φ,
  std::array<double, kRidgeTerms> bend = {};   // with φ the standardised inputs and φ[0] = 1

  double value(const Inputs& inputs, double lever) const;
};

struct RidgeRow {
  Inputs inputs;
  double lever = 0;
  double target = 0;  // v
  double weight = 1;  // weight of the squared error of v · lever
};

Ridge fit_ridge(const std::vector<RidgeRow>& rows);
// Returns kParse unless all numbers are finite.
Result<void> check(const Ridge& ridge);

}  // namespace hypermile
