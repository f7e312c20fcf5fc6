// SPDX-License-Identifier: Apache-2.0
//
// Converts NVML's raw numbers to quantities. Drivers sometimes return sentinels, absurd values or
// NaN together with kSuccess; only here do these become nullopt.
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/units.h"
#include "gpu/nvml/nvml_abi.h"

namespace hypermile {

// Readings above this are rejected: ten times the card's limit, or 10 kW if no limit is known.
Watts power_ceiling(std::optional<Watts> limit);

std::optional<double> number_of(nvml::ValueType type, nvml::Value value);

// A card that answers draws power and has clocks, so 0 also means "not known".
std::optional<Watts> power_of(std::optional<double> milliwatts, Watts ceiling);
std::optional<Mhz> clock_of(unsigned mhz);
// 0..1; slightly more than 100 % counts as 1
std::optional<double> share_of_percent(double percent);
std::optional<Celsius> temperature_of(int celsius);

// Turns readings of the card's energy counter into joules that never fall. The counter restarts
// when the driver is reloaded, wraps at 32 bits on some cards, and occasionally jumps. The reading
// at a restart or jump is nullopt, and later readings count from the new origin.
class EnergyCounter {
 public:
  explicit EnergyCounter(Watts ceiling) : ceiling_(ceiling) {}
  std::optional<Joules> accept(unsigned long long millijoules, Instant now);

 private:
  struct Reading {
    unsigned long long millijoules;
    Instant time;
  };
  Watts ceiling_;
  std::optional<Reading> last_;
  unsigned long long wrapped_ = 0;  // full turns of a 32-bit counter, in millijoules
};

}  // namespace hypermile
