// SPDX-License-Identifier: Apache-2.0
#include "measure/energy_meter.h"

#include <cmath>

namespace hypermile {
namespace {

// A counter that has not moved for this long on a card that draws power is stuck.
constexpr Seconds kStuckAfter = Seconds(1);

}  // namespace

void EnergyMeter::Series::add(Watts power, Seconds span) {
  ++count_;
  weight_ += span.value();
  sum_ += span.value() * power.value();
  squares_ += span.value() * power.value() * power.value();
}

std::optional<Watts> EnergyMeter::Series::mean() const {
  if (weight_ <= 0) return std::nullopt;
  return Watts(sum_ / weight_);
}

std::optional<double> EnergyMeter::Series::relative_error() const {
  if (count_ < 3 || sum_ <= 0) return std::nullopt;
  const double mean = sum_ / weight_;
  const double variance = std::max(0.0, squares_ / weight_ - mean * mean);
  return std::sqrt(variance / (count_ - 1)) / mean;
}

void EnergyMeter::add(const Sample& sample) {
  if (sample.energy) add_counter(sample.time, *sample.energy);
  const auto& power = sample.power_instant ? sample.power_instant : sample.power_average;
  if (power) add_power(sample.time, *power);
}

void EnergyMeter::add_counter(Instant time, Joules energy) {
  if (counter_ && energy < *counter_) {
    // The driver was reloaded or the counter wrapped: start again from this value.
    counter_went_back_ = true;
    step_time_.reset();
  } else if (counter_ && energy > *counter_) {
    if (step_time_ && time > *step_time_) {
      const Seconds span = time - *step_time_;
      steps_.add((energy - *counter_) / span, span);
    }
    step_time_ = time;
  }
  counter_ = energy;
}

void EnergyMeter::add_power(Instant time, Watts power) {
  // A reading counts for the time until the next one.
  if (power_ && time > *power_time_) readings_.add(*power_, time - *power_time_);
  power_ = power;
  power_time_ = time;
}

std::optional<MeanPower> EnergyMeter::mean_power() const {
  const std::optional<Watts> counted = steps_.mean();
  const std::optional<Watts> integrated = readings_.mean();
  if (!counted && !integrated) return std::nullopt;
  MeanPower result;
  result.counter_suspect =
      counter_went_back_ || (counter_ && !counted && integrated && readings_.span() >= kStuckAfter);
  if (counted) {
    result.power = *counted;
    result.error = steps_.relative_error();
    if (integrated && *integrated > Watts(0)) result.disagreement = *counted / *integrated - 1;
  } else {
    result.source = MeanPower::Source::kIntegrated;
    result.power = *integrated;
    result.error = readings_.relative_error();
  }
  return result;
}

}  // namespace hypermile
