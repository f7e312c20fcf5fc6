// SPDX-License-Identifier: Apache-2.0
#include "plan/execute/switch_timer.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace hypermile {
namespace {

constexpr Seconds kShortest = microseconds(1);
constexpr double kWeightOfNew = 0.2;
constexpr std::uint64_t kTrusted = 3;  // the first durations of a segment are never outliers
constexpr double kOutlier = 3;         // longer or shorter by this factor is a hiccup of the job
constexpr double kStandstillIterations = 3;
constexpr Seconds kStandstill = Seconds(1);

}  // namespace

SwitchTimer::SwitchTimer(std::vector<Seconds> expected)
    : durations_(std::move(expected)), seen_(durations_.size(), 0) {
  assert(!durations_.empty());
  for (Seconds& duration : durations_) duration = std::max(duration, kShortest);
}

void SwitchTimer::passed(std::size_t number, Instant at) {
  assert(number < durations_.size());
  if (position_ && number == (*position_ + 1) % durations_.size()) {
    Seconds& known = durations_[*position_];
    std::uint64_t& seen = seen_[*position_];
    Seconds lasted = std::max(at - since_, kShortest);
    if (seen >= kTrusted) lasted = std::clamp(lasted, known / kOutlier, known * kOutlier);
    known = seen == 0 ? lasted : known + kWeightOfNew * (lasted - known);
    ++seen;
  }
  position_ = number;
  since_ = at;
}

Seconds SwitchTimer::iteration() const {
  Seconds sum;
  for (const Seconds duration : durations_) sum += duration;
  return sum;
}

std::optional<SwitchTimer::Place> SwitchTimer::place_at(Instant then, Instant now) const {
  if (!position_) return std::nullopt;
  const Seconds whole = iteration();
  if (now - since_ > std::max(kStandstill, kStandstillIterations * whole)) return std::nullopt;
  Place place{*position_, std::max(since_ + durations_[*position_], now)};
  // Skips whole iterations at once, as a latency may last longer than many of them.
  const double whole_ones = std::floor(std::max(0.0, (then - place.end) / whole));
  place.end = place.end + whole * whole_ones;
  while (place.end <= then) {
    place.segment = (place.segment + 1) % durations_.size();
    place.end = place.end + durations_[place.segment];
  }
  return place;
}

std::optional<std::size_t> SwitchTimer::segment_at(Instant then, Instant now) const {
  const auto place = place_at(then, now);
  return place ? std::optional(place->segment) : std::nullopt;
}

std::optional<Instant> SwitchTimer::next_boundary(Instant then, Instant now) const {
  const auto place = place_at(then, now);
  return place ? std::optional(place->end) : std::nullopt;
}

}  // namespace hypermile
