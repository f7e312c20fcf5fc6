// SPDX-License-Identifier: Apache-2.0
#include "measure/energy_counter_clock.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr std::size_t kBrackets = 6;          // needed to fix a rhythm
constexpr Seconds kTight = milliseconds(45);  // a wider bracket does not place its step well
constexpr Seconds kStandsStill = Seconds(1);  // unless this one has shown to be slower
constexpr double kSlower = 1.5;               // of its longest rest so far
constexpr Seconds kLongestRest = Seconds(5);  // a counter that rests longer is a stuck one
// Seconds; vendors choose round periods.
constexpr double kRoundest[] = {0.1, 0.05, 0.01, 0.005, 0.001};
constexpr Seconds kJitter = milliseconds(2);  // of single steps around the rhythm
constexpr double kSafe = 0.2;  // share of a step; a read nearer to a step's ends is ambiguous

// The roundest number of seconds in (low, high), or the middle.
double roundest(double low, double high) {
  for (const double unit : kRoundest) {
    const double nearest = std::round((low + high) / 2 / unit) * unit;
    if (nearest > low && nearest < high) return nearest;
  }
  return (low + high) / 2;
}

}  // namespace

std::optional<EnergyCounterStep> EnergyCounterClock::add(Instant time, Joules energy) {
  if (!read_ || energy < shown_) {
    // This is the first read, or the driver was reloaded.
    if (read_) forget();
    moved_ = time;
    read_ = time;
    shown_ = energy;
    return std::nullopt;
  }
  const Bracket bracket{*read_, time};
  read_ = time;
  if (!(energy > shown_)) {
    still_ = time - moved_ >= std::max(kStandsStill, kSlower * longest_rest_);
    return std::nullopt;
  }
  still_ = false;
  longest_rest_ = std::max(longest_rest_, std::min(time - moved_, kLongestRest));
  moved_ = time;
  shown_ = energy;
  if (fast_) return EnergyCounterStep{time, energy};
  const bool tight = bracket.after - bracket.before <= kTight;
  if (!period_ && tight) learn(bracket);
  if (period_) {
    if (tight) follow(bracket);
    return placed(bracket, energy);
  }
  if (!tight) return std::nullopt;
  return EnergyCounterStep{bracket.before + (bracket.after - bracket.before) / 2, energy};
}

bool EnergyCounterClock::good_time(Instant time) const {
  if (!period_) return true;
  const double along = steps_at(time) - std::floor(steps_at(time));
  return along >= kSafe && along <= 1 - kSafe;
}

void EnergyCounterClock::forget() {
  brackets_.clear();
  period_.reset();
  told_.reset();
  still_ = fast_ = false;
}

void EnergyCounterClock::learn(const Bracket& bracket) {
  // After a gap it is unknown how many steps lie between two brackets.
  if (!brackets_.empty() && bracket.after - brackets_.back().after >= kStandsStill) {
    brackets_.clear();
  }
  brackets_.push_back(bracket);
  if (brackets_.size() < kBrackets) return;
  const Bracket& first = brackets_.front();
  const double count = static_cast<double>(brackets_.size() - 1);
  const double shortest = (bracket.before - first.after).value() / count;
  const double longest = (bracket.after - first.before).value() / count;
  // The counter moved at nearly every read, so it moves faster than it is read.
  if (longest <= (bracket.after - bracket.before).value() * 1.5) {
    fast_ = true;
    return;
  }
  period_ = Seconds(roundest(shortest, longest));
  low_ = first.before;
  high_ = first.after;
  const std::vector<Bracket> seen = std::move(brackets_);
  brackets_.clear();
  for (const Bracket& one : seen) follow(one);
}

double EnergyCounterClock::steps_at(Instant time) const {
  const Instant middle = low_ + (high_ - low_) / 2;
  return (time - middle) / *period_;
}

void EnergyCounterClock::follow(const Bracket& bracket) {
  const Instant centre = bracket.before + (bracket.after - bracket.before) / 2;
  const Seconds back = *period_ * std::round(steps_at(centre));
  Instant low = std::max(low_, bracket.before - back);
  Instant high = std::min(high_, bracket.after - back);
  if (low > high) {
    // The rhythm has slipped: trust the newest bracket alone.
    low = bracket.before - back;
    high = bracket.after - back;
  } else if (high - low < kJitter) {
    const Instant middle = low + (high - low) / 2;
    low = middle - kJitter / 2;
    high = middle + kJitter / 2;
  }
  // Move the reference along, so that a slightly wrong period does not accumulate.
  low_ = low + back;
  high_ = high + back;
  if (told_) *told_ -= std::llround(back / *period_);
}

std::optional<EnergyCounterStep> EnergyCounterClock::placed(const Bracket& bracket, Joules energy) {
  const double at = steps_at(bracket.after);
  auto number = static_cast<std::int64_t>(std::floor(at));
  // A read this near to a step may show the value before or after it. The counter has moved since
  // the read before, so the nearer step counts if that read fell within the preceding step.
  if (!good_time(bracket.after)) {
    const double before = steps_at(bracket.before);
    const auto nearest = static_cast<std::int64_t>(std::llround(at));
    const bool plain =
        before > static_cast<double>(nearest) - 1 + kSafe && before < static_cast<double>(nearest);
    if (!plain) return std::nullopt;
    number = nearest;
  }
  if (told_ && number <= *told_) return std::nullopt;
  told_ = number;
  const Instant middle = low_ + (high_ - low_) / 2;
  return EnergyCounterStep{middle + *period_ * static_cast<double>(number), energy};
}

}  // namespace hypermile
