// SPDX-License-Identifier: Apache-2.0
#include "measure/window_refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr std::uint64_t kSlowed = EventReasons::kHardwareSlowdown | EventReasons::kSyncBoost |
                                  EventReasons::kSoftwareThermal | EventReasons::kHardwareThermal |
                                  EventReasons::kPowerBrake;
constexpr double kMostSlowed = 0.1;
constexpr double kHardlyUsed = 0.05;  // utilisation below which the GPU counts as idle
constexpr double kMostIdle = 0.5;
// One clock step of slack above the ceiling; beyond it the ceiling does not work.
constexpr double kAbove = 0.015;
constexpr double kBelow = 0.03;
constexpr double kMemoryOff = 0.02;
constexpr double kPauseFactor = 8;  // an interval this many times the median is a pause
constexpr double kPauseShare = 0.05;
constexpr std::size_t kFewPauses = 2;
constexpr double kMostOff = 0.5;  // of a counter from the power samples, up or down

class Mean {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  std::optional<double> value() const {
    return count_ > 0 ? std::optional(sum_ / count_) : std::nullopt;
  }

 private:
  double sum_ = 0;
  int count_ = 0;
};

// Variance of a clock that wanders between steps. Each change is one observation of how long the
// clock stays: for two steps, the mean over n changes has the clock's variance divided by n.
class Wandering {
 public:
  void add(double clock) {
    if (last_ && *last_ != clock) ++changes_;
    last_ = clock;
    mean_.add(clock);
    squares_.add(clock * clock);
  }
  const Mean& mean() const { return mean_; }
  double relative_error() const {
    if (changes_ == 0) return 0;
    const double mean = *mean_.value();
    const double variance = std::max(0.0, *squares_.value() - mean * mean);
    return std::sqrt(variance / changes_) / mean;
  }

 private:
  std::optional<double> last_;
  int changes_ = 0;
  Mean mean_;
  Mean squares_;
};

std::optional<Mhz> clock_of(const Mean& mean) {
  const auto value = mean.value();
  return value ? std::optional(Mhz(*value)) : std::nullopt;
}

Objection not_reached(const char* knob, Mhz asked, Mhz seen) {
  return {fmt::format("{} clock not reached: requested {:.0f} MHz, measured {:.0f}", knob,
                      asked.value(), seen.value()),
          Refusal::kClockNotReached};
}

Objection clock_object(const Setting& setting, const WindowSensors& sensors) {
  if (setting.sm_clock && sensors.sm_clock) {
    const double ratio = *sensors.sm_clock / *setting.sm_clock;
    // A clock below its ceiling is part of the Setting where the card gives a reason for it.
    const bool explained = sensors.throttled_share > 0.05;
    if (ratio > 1 + kAbove || (ratio < 1 - kBelow && !explained)) {
      return not_reached("SM", *setting.sm_clock, *sensors.sm_clock);
    }
  }
  if (setting.memory_clock && sensors.memory_clock) {
    const double ratio = *sensors.memory_clock / *setting.memory_clock;
    if (std::abs(ratio - 1) > kMemoryOff) {
      return not_reached("memory", *setting.memory_clock, *sensors.memory_clock);
    }
  }
  return {};
}

}  // namespace

WindowSensors summarize(std::span<const Sample> samples) {
  Wandering sm;
  Mean memory;
  Mean throttled;
  Mean slowed;
  Mean idle;
  for (const Sample& sample : samples) {
    if (sample.sm_clock) sm.add(sample.sm_clock->value());
    if (sample.memory_clock) memory.add(sample.memory_clock->value());
    if (sample.reasons) {
      throttled.add(sample.reasons->throttled() ? 1 : 0);
      slowed.add((sample.reasons->bits & kSlowed) != 0 ? 1 : 0);
    }
    if (sample.gpu_utilization) idle.add(*sample.gpu_utilization < kHardlyUsed ? 1 : 0);
  }
  return {clock_of(sm.mean()),           clock_of(memory),           sm.relative_error(),
          throttled.value().value_or(0), slowed.value().value_or(0), idle.value()};
}

Objection heat_objects(const WindowSensors& sensors) {
  if (sensors.slowed_share <= kMostSlowed) return {};
  return {fmt::format("throttled: heat or hardware held the clock down for {:.0f} % of the time",
                      sensors.slowed_share * 100),
          Refusal::kHeldBack};
}

bool disagree(double disagreement) {
  return !(disagreement < kMostOff) || !(disagreement > 1 / (1 + kMostOff) - 1);
}

Objection energy_objects(const std::optional<double>& disagreement) {
  if (!disagreement || !disagree(*disagreement)) return {};
  return {fmt::format("the energy counter shows {:.1f} times what the power samples show",
                      1 + *disagreement),
          Refusal::kNoPower};
}

Objection sensors_object(const Setting& setting, const WindowSensors& sensors) {
  if (sensors.idle_share.value_or(0) > kMostIdle) {
    return {fmt::format("the GPU was idle for {:.0f} % of the time: the job was waiting",
                        *sensors.idle_share * 100),
            Refusal::kIdle};
  }
  return clock_object(setting, sensors);
}

Objection pause_objects(std::span<const double> intervals_s) {
  if (intervals_s.size() < 4) return {};
  std::vector<double> sorted(intervals_s.begin(), intervals_s.end());
  std::ranges::sort(sorted);
  const double median = sorted[sorted.size() / 2];
  const auto pauses = std::ranges::upper_bound(sorted, kPauseFactor * median);
  double paused = 0;
  double sum = 0;
  for (auto it = sorted.begin(); it != sorted.end(); ++it) {
    sum += *it;
    if (it >= pauses) paused += *it;
  }
  const auto count = static_cast<std::size_t>(sorted.end() - pauses);
  if (count == 0 || count > kFewPauses || paused < kPauseShare * sum) return {};
  return {fmt::format("the job paused for {:.1f} s of {:.1f} s", paused, sum), Refusal::kPaused};
}

}  // namespace hypermile
