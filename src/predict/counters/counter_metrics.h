// SPDX-License-Identifier: Apache-2.0
//
// The metrics that give each feature. Chips differ in what they can sample, so a feature may have
// several forms, the best first; docs/reference/features.md has the table by chip generation.
#pragma once

#include <span>

#include "measure/features.h"

namespace hypermile {

struct CounterForm {
  Feature feature;
  const char* metric;
  const char* added = nullptr;  // a second metric, added to the first
  double scale = 0.01;          // from the metric's unit, mostly percent of peak, to the feature's
};

// Sorted by feature, the best form of each feature first.
std::span<const CounterForm> counter_forms();

}  // namespace hypermile
