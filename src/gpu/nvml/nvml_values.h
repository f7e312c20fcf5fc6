// SPDX-License-Identifier: Apache-2.0
//
// From NVML's raw numbers to quantities: what is a sentinel, out of any reason, or not a number
// becomes nullopt here and nowhere else. Drivers do return such values with kSuccess.
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/units.h"
#include "gpu/nvml/nvml_abi.h"

namespace hypermile {

// Nothing above this is believed: ten times the card's limit, or 10 kW where no limit is known.
Watts power_ceiling(std::optional<Watts> limit);

std::optional<double> number_of(nvml::ValueType type, nvml::Value value);

// A card that answers draws power and has clocks, so 0 means "not known", too.
std::optional<Watts> power_of(std::optional<double> milliwatts, Watts ceiling);
std::optional<Mhz> clock_of(unsigned mhz);
std::optional<double> share_of_percent(double percent);  // 0..1; a hair above 100 % is 1
std::optional<Celsius> temperature_of(int celsius);

// Turns readings of the card's energy counter into joules that only grow. The counter restarts when
// the driver is reloaded, wraps at 32 bits on some cards and now and then jumps; the reading at
// such a break is nullopt, and the next ones count from the new origin.
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
  unsigned long long wrapped_ = 0;  // millijoules in full turns of a 32-bit counter
};

}  // namespace hypermile
