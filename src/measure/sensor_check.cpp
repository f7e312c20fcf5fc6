// SPDX-License-Identifier: Apache-2.0
#include "measure/sensor_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "measure/window_refusal.h"

namespace hypermile {
namespace {

// A single power sample may exceed the power limit, since the limiter acts late.
constexpr double kMostMomentary = 2;
constexpr double kMostForLong = 1.2;    // of the power limit, over a whole stretch
constexpr Watts kLeastBusy = Watts(5);  // no card that anybody trains on idles below this
constexpr Seconds kStretch = Seconds(5);
constexpr Seconds kLongStretch = Seconds(15);
constexpr Seconds kLongestStep = Seconds(1);   // no known counter moves more rarely
constexpr Seconds kClocksDiffer = Seconds(1);  // the card's own clock against ours
constexpr int kFewestPowers = 10;              // of a stretch, for a comparison
constexpr int kMostStrikes = 2;
constexpr int kWorthTelling = 50;  // impossible power samples

std::optional<Watts> most_of(const Capabilities& card) {
  std::optional<Watts> most;
  const auto raise = [&](const std::optional<Watts>& to) {
    if (to && std::isfinite(to->value()) && *to > Watts(0))
      most = std::max(most.value_or(*to), *to);
  };
  if (card.power_limit_range) raise(card.power_limit_range->max);
  raise(card.default_power_limit);
  raise(card.current_power_limit);
  return most;
}

void drop_unless_positive(std::optional<Mhz>& clock) {
  if (clock && !(std::isfinite(clock->value()) && *clock > Mhz(0))) clock.reset();
}

}  // namespace

SensorCheck::SensorCheck(const Capabilities& card) : most_(most_of(card)) {}

bool SensorCheck::possible(Watts power) const {
  return std::isfinite(power.value()) && power > Watts(0) &&
         (!most_ || power <= *most_ * kMostMomentary);
}

void SensorCheck::drop_unless_possible(std::optional<Watts>& power) {
  if (!power || possible(*power)) return;
  power.reset();
  if (++impossible_powers_ == kWorthTelling) {
    tell("the power sensor shows values that cannot be true; they are left out");
  }
}

void SensorCheck::check(Sample& sample) {
  if (newest_ && sample.time < *newest_) {
    // Whatever it shows is of an unknown time.
    sample = Sample();
    sample.time = *newest_;
    return;
  }
  newest_ = sample.time;
  drop_unless_possible(sample.power_instant);
  drop_unless_possible(sample.power_average);
  drop_unless_positive(sample.sm_clock);
  drop_unless_positive(sample.memory_clock);
  const auto& power = sample.power_instant ? sample.power_instant : sample.power_average;
  if (stretch_ && power) {
    stretch_->power_sum_w += power->value();
    ++stretch_->powers;
  }
  if (sample.energy) sample.energy = accept(sample.time, *sample.energy);
}

void SensorCheck::check(std::vector<TimedPower>& history, Instant now) {
  std::optional<Instant> newest;
  std::erase_if(history, [&](const TimedPower& one) {
    const bool in_order = (!newest || one.time > *newest) && one.time <= now + kClocksDiffer;
    const bool good = in_order && possible(one.power);
    if (good) newest = one.time;
    return !good;
  });
}

std::optional<Watts> SensorCheck::sampled() const {
  if (!stretch_ || stretch_->powers < kFewestPowers) return std::nullopt;
  return Watts(stretch_->power_sum_w / stretch_->powers);
}

// One value of the counter, as everybody further on sees it; nullopt where it is not believed.
// Values that stay unbelievable for a whole stretch are a counter that began anew: it goes on from
// here.
std::optional<Joules> SensorCheck::accept(Instant time, Joules shown) {
  if (counter_given_up() || !std::isfinite(shown.value()) || shown < Joules(0)) return std::nullopt;
  if (!believed_) {
    believed_ = shown;
    believed_at_ = time;
    stretch_ = Stretch{time, shown};
    return shown + shift_;
  }
  const Seconds since = time - believed_at_;
  const bool back = shown < *believed_;
  const bool jumps = most_ && shown - *believed_ > *most_ * kMostMomentary * (since + kLongestStep);
  if (!back && !jumps) {
    believed_ = shown;
    believed_at_ = time;
    compare(time, shown);
    return counter_given_up() ? std::nullopt : std::optional(shown + shift_);
  }
  if (since < kStretch) return std::nullopt;
  strike(back ? "it goes back" : "it counts more than the card can draw");
  if (counter_given_up()) return std::nullopt;
  shift_ = shift_ + *believed_ + sampled().value_or(Watts(0)) * since - shown;
  believed_ = shown;
  believed_at_ = time;
  stretch_ = Stretch{time, shown};
  return shown + shift_;
}

// Counter against samples and against what the card can draw, stretch by stretch.
void SensorCheck::compare(Instant time, Joules shown) {
  const Seconds span = time - stretch_->begin;
  if (span < kStretch) return;
  const Watts counted = (shown - stretch_->energy) / span;
  const std::optional<Watts> seen = sampled();
  const bool differ = seen && disagree(counted / *seen - 1);
  const bool counts = counted >= kLeastBusy;
  const bool too_much = most_ && counted > *most_ * kMostForLong;
  // Samples may meet the rhythm of a job by chance: it is watched for longer.
  if (differ && counts && !too_much && span < kLongStretch) return;
  stretch_ = Stretch{time, shown};
  if (too_much) {
    strike(fmt::format("it shows {:.0f} W, and the card's limit is {:.0f} W", counted.value(),
                       most_->value()));
  } else if (differ && !counts) {
    strike(fmt::format("it shows {:.1f} W, and the power samples show {:.0f} W", counted.value(),
                       seen->value()));
  } else if (differ) {
    tell(
        "the energy counter and the power samples disagree by more than a half: energy is not "
        "known well enough to decide by");
  }
}

void SensorCheck::strike(const std::string& why) {
  if (++strikes_ < kMostStrikes) return;
  why_given_up_ = why;
  tell(fmt::format("the energy counter is not believed any more: {}; the power samples are used",
                   why));
}

void SensorCheck::tell(const std::string& finding) {
  if (std::ranges::count(told_, finding) > 0) return;
  told_.push_back(finding);
  to_tell_.push_back(finding);
}

std::string SensorCheck::take_finding() {
  if (to_tell_.empty()) return {};
  std::string finding = std::move(to_tell_.front());
  to_tell_.erase(to_tell_.begin());
  return finding;
}

}  // namespace hypermile
