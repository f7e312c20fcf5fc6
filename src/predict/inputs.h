// SPDX-License-Identifier: Apache-2.0
//
// The row of numbers that trees and linear forms see: every feature, three combinations of
// features, and the setting. A missing value is NaN here and nowhere else, because XGBoost marks
// missing values so. All functions are pure.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "measure/features.h"
#include "predict/predictor.h"

namespace hypermile {

inline constexpr std::size_t kCorePeak = kFeatureCount;          // busiest arithmetic pipe
inline constexpr std::size_t kCoreToMemory = kFeatureCount + 1;  // ln(busiest pipe / DRAM's use)
inline constexpr std::size_t kDramPerSm = kFeatureCount + 2;     // DRAM's use over active SMs
inline constexpr std::size_t kSmRatio = kFeatureCount + 3;
inline constexpr std::size_t kMemoryRatio = kFeatureCount + 4;
inline constexpr std::size_t kLimitRatio = kFeatureCount + 5;
inline constexpr std::size_t kInputCount = kFeatureCount + 6;

using Inputs = std::array<float, kInputCount>;

Inputs inputs_of(const Features& features, const RelativeSetting& at);
// Changes the setting and keeps the features.
void move_to(Inputs& inputs, const RelativeSetting& at);

// In the order of Inputs, as a model file lists them.
std::vector<std::string> input_names();

}  // namespace hypermile
