// SPDX-License-Identifier: Apache-2.0
//
// How GPOEO and ODPP notice that a job has changed: the spread of the power measured at the Setting
// kept, (max - min) / middle, over all Windows since the decision.
#pragma once

#include <algorithm>
#include <optional>

#include "base/units.h"

namespace hypermile {

// GPOEO's thresholds of that spread: the local search is done again, or everything is.
inline constexpr double kGpoeoSearchAgain = 0.18;
inline constexpr double kGpoeoPredictAgain = 0.50;

class PowerWatch {
 public:
  // The spread with this Window; the first has none.
  double spread(Watts power) {
    least_ = least_ ? std::min(*least_, power) : power;
    most_ = most_ ? std::max(*most_, power) : power;
    return (*most_ - *least_) / (0.5 * (*most_ + *least_));
  }
  void forget() {
    least_.reset();
    most_.reset();
  }

 private:
  std::optional<Watts> least_;
  std::optional<Watts> most_;
};

}  // namespace hypermile
