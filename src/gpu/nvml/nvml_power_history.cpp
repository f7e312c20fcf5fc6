// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/nvml_power_history.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "gpu/nvml/nvml_error.h"
#include "gpu/nvml/nvml_values.h"

namespace hypermile {
namespace {

constexpr std::size_t kUsualSamples = 256;  // an H200 holds 119
constexpr std::size_t kMostSamples = std::size_t{1} << 16;
// Setting the wall clock shifts the offset by more than this; two readings of it differ by less.
constexpr std::int64_t kWallClockStepUs = 5000;

std::int64_t unix_minus_clock(const Clock& clock) {
  return std::llround(clock.unix_time() * 1e6) - clock.now().nanoseconds() / 1000;
}

}  // namespace

NvmlPowerHistory::NvmlPowerHistory(const NvmlLibrary& library, nvml::Device device, Clock& clock,
                                   Watts power_ceiling)
    : nvml_(library.functions()),
      device_(device),
      clock_(clock),
      ceiling_(power_ceiling),
      unix_minus_clock_us_(unix_minus_clock(clock)) {}

// A fixed offset maps a sample to the same Instant every time, until somebody sets the wall clock.
void NvmlPowerHistory::follow_wall_clock() {
  const std::int64_t now = unix_minus_clock(clock_);
  if (std::abs(now - unix_minus_clock_us_) > kWallClockStepUs) unix_minus_clock_us_ = now;
}

// Reads into a buffer of the usual size first: asking for the count alone would cost another half
// millisecond.
Result<std::span<const nvml::PowerSample>> NvmlPowerHistory::drain(unsigned long long after_us,
                                                                   nvml::ValueType& type) {
  unsigned count = 0;
  nvml::Return code = nvml::kInsufficientSize;
  for (int attempt = 0; attempt < 4 && code == nvml::kInsufficientSize; ++attempt) {
    // The driver may need more by the time it is called again, so later attempts leave extra room.
    const std::size_t needed = std::max<std::size_t>(count, buffer_.size());
    const std::size_t room = attempt == 0 ? needed : needed + needed / 2;
    buffer_.resize(std::clamp(room, kUsualSamples, kMostSamples));
    count = static_cast<unsigned>(buffer_.size());
    code = nvml::call(nvml_.samples, device_, nvml::kTotalPowerSamples, after_us, &type, &count,
                      buffer_.data());
  }
  if (code == nvml::kNotFound || code == nvml::kNoData) return std::span<const nvml::PowerSample>();
  if (code != nvml::kSuccess) return nvml_error(code, "read the card's power samples");
  return std::span<const nvml::PowerSample>(buffer_).first(
      std::min<std::size_t>(count, buffer_.size()));
}

Result<std::vector<TimedPower>> NvmlPowerHistory::since(Instant after) {
  follow_wall_clock();
  const std::int64_t after_us = after.nanoseconds() / 1000 + unix_minus_clock_us_;
  nvml::ValueType type = nvml::kUnsignedInt;
  ASSIGN_OR_RETURN(
      const auto raw,
      drain(static_cast<unsigned long long>(std::max<std::int64_t>(after_us, 0)), type));
  std::vector<TimedPower> history;
  for (const nvml::PowerSample& sample : raw) {
    const auto power = power_of(number_of(type, sample.value), ceiling_);
    if (!power || sample.timestamp_us == 0 || sample.timestamp_us == nvml::kNotAvailable64)
      continue;
    const Instant time = Instant::from_nanoseconds(
        (static_cast<std::int64_t>(sample.timestamp_us) - unix_minus_clock_us_) * 1000);
    if (time > after) history.push_back({time, *power});
  }
  std::sort(history.begin(), history.end(),
            [](const TimedPower& a, const TimedPower& b) { return a.time < b.time; });
  return history;
}

}  // namespace hypermile
