// SPDX-License-Identifier: Apache-2.0
#include "measure/counter_clock.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr std::size_t kBrackets = 6;          // that fix a rhythm
constexpr Seconds kTight = milliseconds(45);  // wider brackets say little about when
constexpr Seconds kStandsStill = Seconds(1);  // no card's counter is slower
constexpr double kRoundest[] = {0.1, 0.05, 0.01, 0.005, 0.001};  // periods people choose
constexpr Seconds kJitter = milliseconds(2);                     // of single steps
constexpr double kSafe = 0.2;  // of a step, this far from its ends

// The roundest number of seconds in (low, high), else the middle.
double roundest(double low, double high) {
  for (const double unit : kRoundest) {
    const double nearest = std::round((low + high) / 2 / unit) * unit;
    if (nearest > low && nearest < high) return nearest;
  }
  return (low + high) / 2;
}

}  // namespace

std::optional<CounterStep> CounterClock::add(Instant time, Joules energy) {
  if (!read_ || energy < shown_) {
    // The first read, or the driver was reloaded.
    if (read_) forget();
    moved_ = time;
    read_ = time;
    shown_ = energy;
    return std::nullopt;
  }
  const Bracket bracket{*read_, time};
  read_ = time;
  if (!(energy > shown_)) {
    still_ = time - moved_ >= kStandsStill;
    return std::nullopt;
  }
  still_ = false;
  moved_ = time;
  shown_ = energy;
  if (fast_) return CounterStep{time, energy};
  const bool tight = bracket.after - bracket.before <= kTight;
  if (!period_ && tight) learn(bracket);
  if (period_) {
    if (tight) follow(bracket);
    return placed(bracket, energy);
  }
  if (!tight) return std::nullopt;
  return CounterStep{bracket.before + (bracket.after - bracket.before) / 2, energy};
}

bool CounterClock::good_time(Instant time) const {
  if (!period_) return true;
  const double along = steps_at(time) - std::floor(steps_at(time));
  return along >= kSafe && along <= 1 - kSafe;
}

void CounterClock::forget() {
  brackets_.clear();
  period_.reset();
  told_.reset();
  still_ = fast_ = false;
}

void CounterClock::learn(const Bracket& bracket) {
  // A gap in the brackets leaves the number of steps between them open.
  if (!brackets_.empty() && bracket.after - brackets_.back().after >= kStandsStill) {
    brackets_.clear();
  }
  brackets_.push_back(bracket);
  if (brackets_.size() < kBrackets) return;
  const Bracket& first = brackets_.front();
  const double count = static_cast<double>(brackets_.size() - 1);
  const double shortest = (bracket.before - first.after).value() / count;
  const double longest = (bracket.after - first.before).value() / count;
  // Moved at nearly every read: faster than we look.
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

double CounterClock::steps_at(Instant time) const {
  const Instant middle = low_ + (high_ - low_) / 2;
  return (time - middle) / *period_;
}

void CounterClock::follow(const Bracket& bracket) {
  const Instant centre = bracket.before + (bracket.after - bracket.before) / 2;
  const Seconds back = *period_ * std::round(steps_at(centre));
  Instant low = std::max(low_, bracket.before - back);
  Instant high = std::min(high_, bracket.after - back);
  if (low > high) {
    // The rhythm has slipped: believe what is newest.
    low = bracket.before - back;
    high = bracket.after - back;
  } else if (high - low < kJitter) {
    const Instant middle = low + (high - low) / 2;
    low = middle - kJitter / 2;
    high = middle + kJitter / 2;
  }
  // The reference moves along, so that a period that is a little off does not add up.
  low_ = low + back;
  high_ = high + back;
  if (told_) *told_ -= std::llround(back / *period_);
}

std::optional<CounterStep> CounterClock::placed(const Bracket& bracket, Joules energy) {
  const double at = steps_at(bracket.after);
  auto number = static_cast<std::int64_t>(std::floor(at));
  // Read so near to a step that either may be meant: it has moved since the read before, so the
  // nearer one counts if that read was within the step before it.
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
  return CounterStep{middle + *period_ * static_cast<double>(number), energy};
}

}  // namespace hypermile
