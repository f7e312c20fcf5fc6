// SPDX-License-Identifier: Apache-2.0
//
// Mean power over an interval, from Samples taken within it. Used by WindowMeter and `monitor`;
// cannot fail.
//
// Sensors change rarely (every 100 ms on Hopper) and lag, so at an arbitrary instant the counter's
// value is up to one period old. The instants at which it changes are exact: mean power is taken
// from the first observed change to the last. Integrated power is the cross-check, and the
// substitute where the card has no counter or the counter stands still.
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/units.h"
#include "gpu/gpu.h"

namespace hypermile {

struct MeanPower {
  enum class Source { kCounter, kIntegrated };

  Watts power;
  Source source = Source::kCounter;
  // Relative standard error, from the scatter of counter steps or power readings; absent with too
  // few of them.
  std::optional<double> error;
  // Counter against integral, as counter / integral - 1, where both are known.
  std::optional<double> disagreement;
  // The counter did not move, or moved backwards, while the card drew power.
  bool counter_suspect = false;
};

class EnergyMeter {
 public:
  // Samples come in order of time.
  void add(const Sample& sample);

  // nullopt until two counter steps or two power readings are known.
  std::optional<MeanPower> mean_power() const;

 private:
  // Time-weighted mean and scatter of a series of powers.
  class Series {
   public:
    void add(Watts power, Seconds span);
    std::optional<Watts> mean() const;
    std::optional<double> relative_error() const;
    Seconds span() const { return Seconds(weight_); }

   private:
    int count_ = 0;
    double weight_ = 0;
    double sum_ = 0;
    double squares_ = 0;
  };

  void add_counter(Instant time, Joules energy);
  void add_power(Instant time, Watts power);

  std::optional<Joules> counter_;     // last value read
  std::optional<Instant> step_time_;  // when the value last changed
  bool counter_went_back_ = false;
  Series steps_;
  std::optional<Instant> power_time_;
  std::optional<Watts> power_;
  Series readings_;
};

}  // namespace hypermile
