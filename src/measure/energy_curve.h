// SPDX-License-Identifier: Apache-2.0
//
// Energy drawn up to any instant, from what a card tells: exact at the steps of its energy counter;
// between two steps shaped by the power samples that lie there, or straight where there are none.
// Without a counter it is the integral of power alone. Used by WindowBuilder.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "gpu/gpu.h"
#include "measure/counter_clock.h"

namespace hypermile {

class EnergyCurve {
 public:
  // All in order of time. `history` is the card's own buffer (every 20 ms on Hopper); `readings`
  // are the instant power of polls, used where there is no buffer.
  EnergyCurve(std::span<const CounterStep> steps, std::span<const TimedPower> history,
              std::span<const TimedPower> readings);

  bool counted() const { return counted_; }
  // Instants at which energy is known best: steps of the counter, or samples of power.
  std::span<const CounterStep> knots() const { return knots_; }
  // nullopt outside the knots.
  std::optional<Joules> at(Instant time) const;

  // Counter against integrated power between the same two steps, as counter / integral - 1.
  std::optional<double> disagreement(Instant from, Instant to) const;

 private:
  // Integrated power since its first sample.
  Joules integral(Instant time) const;

  std::vector<CounterStep> knots_;
  std::vector<CounterStep> integrated_;  // cumulative energy at every power sample
  bool counted_ = false;
};

}  // namespace hypermile
