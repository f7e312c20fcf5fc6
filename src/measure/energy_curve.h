// SPDX-License-Identifier: Apache-2.0
//
// Energy used up to any instant. The curve is exact at the steps of the energy counter; between two
// steps the power samples there give its shape, or it is straight where there are none. Without a
// counter it is the integral of power. Used by WindowBuilder; cannot fail.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "gpu/gpu.h"
#include "measure/energy_counter_clock.h"

namespace hypermile {

class EnergyCurve {
 public:
  // All in order of time. `history` is the card's own buffer of power samples (every 20 ms on
  // Hopper); `readings` are the polled instant power, used where there is no buffer.
  EnergyCurve(std::span<const EnergyCounterStep> steps, std::span<const TimedPower> history,
              std::span<const TimedPower> readings);

  bool counted() const { return counted_; }
  // The points at which energy is known best: counter steps, or power samples where there is no
  // counter.
  std::span<const EnergyCounterStep> knots() const { return knots_; }
  // nullopt before the first and after the last knot.
  std::optional<Joules> at(Instant time) const;

  // Counter against integrated power between the same two steps, as counter / integral - 1.
  std::optional<double> disagreement(Instant from, Instant to) const;

 private:
  // Integrated power from the first sample to `time`.
  Joules integral(Instant time) const;

  std::vector<EnergyCounterStep> knots_;
  std::vector<EnergyCounterStep> integrated_;  // cumulative energy at every power sample
  bool counted_ = false;
};

}  // namespace hypermile
