// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/nvml_values.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hypermile {
namespace {

constexpr unsigned kMostMhz = 100'000;
// The counter is updated about every 100 ms, so a short interval may contain one update too many.
constexpr Seconds kCounterStep(0.5);
constexpr unsigned long long kTurn = 1ULL << 32;
constexpr unsigned long long kNearTurn = 1ULL << 28;  // 268 kJ: minutes at full power

bool wrapped_at_32_bits(unsigned long long before, unsigned long long after) {
  return before < kTurn && before >= kTurn - kNearTurn && after < kNearTurn;
}

}  // namespace

Watts power_ceiling(std::optional<Watts> limit) {
  return limit && *limit > Watts(0) ? *limit * 10 : Watts(10'000);
}

std::optional<double> number_of(nvml::ValueType type, nvml::Value value) {
  switch (type) {
    case nvml::kDouble:
      return std::isfinite(value.as_double) ? std::optional(value.as_double) : std::nullopt;
    case nvml::kUnsignedInt:
      if (value.as_unsigned == nvml::kNotAvailable32) return std::nullopt;
      return value.as_unsigned;
    case nvml::kUnsignedLong:
    case nvml::kUnsignedLongLong:  // both have 64 bits on Linux
      if (value.as_unsigned_long_long == nvml::kNotAvailable64) return std::nullopt;
      return static_cast<double>(value.as_unsigned_long_long);
    case nvml::kSignedLongLong:
      return static_cast<double>(value.as_long_long);
    case nvml::kSignedInt:
      return value.as_int;
    case nvml::kUnsignedShort:
      return value.as_unsigned_short;
  }
  return std::nullopt;
}

std::optional<Watts> power_of(std::optional<double> milliwatts, Watts ceiling) {
  if (!milliwatts || *milliwatts <= 0) return std::nullopt;
  const Watts power(*milliwatts / 1000);
  return power <= ceiling ? std::optional(power) : std::nullopt;
}

std::optional<Mhz> clock_of(unsigned mhz) {
  return mhz > 0 && mhz <= kMostMhz ? std::optional(Mhz(mhz)) : std::nullopt;
}

std::optional<double> share_of_percent(double percent) {
  if (!(percent >= 0 && percent <= 101)) return std::nullopt;  // also refuses NaN
  return std::min(percent / 100, 1.0);
}

std::optional<Celsius> temperature_of(int celsius) {
  return celsius > -60 && celsius < 200 ? std::optional(Celsius(celsius)) : std::nullopt;
}

std::optional<Joules> EnergyCounter::accept(unsigned long long millijoules, Instant now) {
  if (millijoules == nvml::kNotAvailable64) return std::nullopt;
  const std::optional<Reading> before = std::exchange(last_, Reading{millijoules, now});
  unsigned long long step = 0;
  if (before) {
    if (millijoules >= before->millijoules) {
      step = millijoules - before->millijoules;
    } else if (wrapped_at_32_bits(before->millijoules, millijoules)) {
      step = millijoules + kTurn - before->millijoules;
      wrapped_ += kTurn;
    } else {
      wrapped_ = 0;
      return std::nullopt;
    }
    const Joules most = ceiling_ * (now - before->time + kCounterStep);
    if (static_cast<double>(step) / 1000 > most.value()) return std::nullopt;
  }
  return Joules(static_cast<double>(wrapped_ + millijoules) / 1000);
}

}  // namespace hypermile
