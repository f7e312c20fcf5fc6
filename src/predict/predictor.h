// SPDX-License-Identifier: Apache-2.0
//
// What a predictor is: from a job's features at the default Setting to relative time and energy at
// other Settings, with bounds. Everything is relative to the default, so that cards compare: a time
// of 1.03 is 3 % slower, an energy of 0.8 costs 20 % less. Predictions order and start a search;
// they never settle one.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "gpu/setting.h"
#include "measure/features.h"

namespace hypermile {

// A Setting as shares of the default's own values.
struct RelativeSetting {
  double sm = 1;                // SM clock over the default's
  double memory = 1;            // memory clock over the default's
  std::optional<double> limit;  // power limit over the mean power drawn at the default

  bool operator==(const RelativeSetting&) const = default;
};

// Knobs whose default is not known count as left at it. `default_power`: mean drawn there.
RelativeSetting relative(const Setting& setting, const Setting& default_values,
                         Watts default_power);

struct Bounded {
  double value = 1;
  double low = 1;  // the truth lies within [low, high] in nine cases of ten
  double high = 1;
  // Probability that the truth is at most `limit`, were errors normal with these bounds.
  double chance_below(double limit) const;
};

struct RatioEstimate {
  Bounded time;
  Bounded energy;
};

class Predictor {
 public:
  virtual ~Predictor() = default;

  // One RatioEstimate for each Setting; the default's own is exactly 1. `gpu` is the card's name
  // where known: bounds are wider for a card that was not in the training.
  virtual std::vector<RatioEstimate> predict(const Features& features, std::string_view gpu,
                                             std::span<const RelativeSetting> settings) const = 0;
};

}  // namespace hypermile
