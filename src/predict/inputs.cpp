// SPDX-License-Identifier: Apache-2.0
#include "predict/inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hypermile {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
// Added to shares before they are divided, because counters below these shares are noise.
constexpr double kSmallPipe = 0.02;
constexpr double kSmallSm = 0.05;

constexpr Feature kPipes[] = {Feature::kTensorActive, Feature::kFp64Active, Feature::kFp32Active,
                              Feature::kFp16Active, Feature::kIntegerActive};

}  // namespace

Inputs inputs_of(const Features& features, const RelativeSetting& at) {
  Inputs inputs;
  inputs.fill(kMissing);
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    if (const auto value = features.get(static_cast<Feature>(i))) {
      inputs[i] = static_cast<float>(*value);
    }
  }
  std::optional<double> peak;
  for (const Feature pipe : kPipes) {
    if (const auto value = features.get(pipe)) peak = std::max(peak.value_or(0), *value);
  }
  const auto dram = features.get(Feature::kDramActive);
  if (peak) inputs[kCorePeak] = static_cast<float>(*peak);
  if (peak && dram) {
    inputs[kCoreToMemory] =
        static_cast<float>(std::log((*peak + kSmallPipe) / (*dram + kSmallPipe)));
  }
  if (const auto sm = features.get(Feature::kSmActive); dram && sm) {
    inputs[kDramPerSm] = static_cast<float>(*dram / (*sm + kSmallSm));
  }
  move_to(inputs, at);
  return inputs;
}

void move_to(Inputs& inputs, const RelativeSetting& at) {
  inputs[kSmRatio] = static_cast<float>(at.sm);
  inputs[kMemoryRatio] = static_cast<float>(at.memory);
  inputs[kLimitRatio] = at.limit ? static_cast<float>(*at.limit) : kMissing;
}

std::vector<std::string> input_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    names.emplace_back(name_of(static_cast<Feature>(i)));
  }
  for (const char* name :
       {"core_peak", "core_to_memory", "dram_per_sm", "sm_ratio", "memory_ratio", "limit_ratio"}) {
    names.emplace_back(name);
  }
  return names;
}

}  // namespace hypermile
