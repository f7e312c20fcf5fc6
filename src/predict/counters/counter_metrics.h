// SPDX-License-Identifier: Apache-2.0
//
// Which of a chip's metrics mean which feature. Chips differ in what they can sample, so a feature
// may have several forms, the best first; docs/reference/features.md has the table by generation.
#pragma once

#include <span>

#include "measure/features.h"

namespace hypermile {

struct CounterForm {
  Feature feature;
  const char* metric;
  const char* added = nullptr;  // a second metric that is added to the first
  double scale = 0.01;          // from the metric's unit, mostly per cent of peak
};

// By feature; forms of one feature stand together.
std::span<const CounterForm> counter_forms();

}  // namespace hypermile
