// SPDX-License-Identifier: Apache-2.0
//
// The interface of predictors: from a job's features at the default setting to relative time and
// energy at other settings, with bounds. All values are relative to the default, so that cards can
// be compared: a time of 1.03 is 3 % slower, an energy of 0.8 is 20 % less. Policies use
// predictions to order and start a search, and confirm them by measuring.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "gpu/setting.h"
#include "measure/features.h"

namespace hypermile {

// A setting as shares of the default's values.
struct RelativeSetting {
  double sm = 1;                // SM clock over the default's
  double memory = 1;            // memory clock over the default's
  std::optional<double> limit;  // power limit over the mean power drawn at the default

  bool operator==(const RelativeSetting&) const = default;
};

// A knob whose default is unknown counts as 1. `default_power` is the mean power at the default.
RelativeSetting relative(const Setting& setting, const Setting& default_values,
                         Watts default_power);

struct Bounded {
  double value = 1;
  double low = 1;  // the truth lies within [low, high] in nine of ten cases
  double high = 1;
  // The probability that the truth is at most `limit`, if errors are normal with these bounds.
  double chance_below(double limit) const;
};

struct RatioEstimate {
  Bounded time;
  Bounded energy;
};

class Predictor {
 public:
  virtual ~Predictor() = default;

  // One RatioEstimate for each setting; the default's is exactly 1. `gpu` is the card's name where
  // known: bounds are wider for a card outside the training. Safe to call from any thread.
  virtual std::vector<RatioEstimate> predict(const Features& features, std::string_view gpu,
                                             std::span<const RelativeSetting> settings) const = 0;
};

}  // namespace hypermile
