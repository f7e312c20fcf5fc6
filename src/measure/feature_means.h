// SPDX-License-Identifier: Apache-2.0
//
// Means of features that were read several times. A feature that was missing in some readings is
// averaged over the others. Used where performance counters are sampled; cannot fail.
#pragma once

#include "measure/features.h"

namespace hypermile {

class FeatureMeans {
 public:
  void add(const Features& features) {
    for (std::size_t i = 0; i < kFeatureCount; ++i) {
      const auto value = features.get(static_cast<Feature>(i));
      if (!value) continue;
      sums_[i] += *value;
      ++counts_[i];
    }
  }

  Features means() const {
    Features features;
    for (std::size_t i = 0; i < kFeatureCount; ++i) {
      if (counts_[i] > 0) features.set(static_cast<Feature>(i), sums_[i] / counts_[i]);
    }
    return features;
  }

 private:
  std::array<double, kFeatureCount> sums_ = {};
  std::array<double, kFeatureCount> counts_ = {};
};

}  // namespace hypermile
