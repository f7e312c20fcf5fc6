// SPDX-License-Identifier: Apache-2.0
#include "progress/follow/watch_duty.h"

#include <algorithm>

namespace hypermile {
namespace {

constexpr double kStretch = 1.25;  // a stretch that surely contains a whole Window, in Windows
constexpr Seconds kShortest = Seconds(0.5);  // shortest dark stretch that is worth the switching
// Above this share of watched time, dark stretches are not worth it.
constexpr double kWorthIt = 0.8;

}  // namespace

void WatchDuty::watching_since(Instant time) {
  watching_ = time;
}

void WatchDuty::resting(Instant now) {
  watching_ = now;
  certain_since_.reset();
  lost_since_.reset();
}

// A job without a pattern must not pay for being watched either.
std::optional<Instant> WatchDuty::look_now_and_then(Instant now, double share) {
  if (!lost_since_) lost_since_ = now;
  const Seconds seen = now - *watching_;
  if (now - *lost_since_ < terms_.hopeless || seen < terms_.look) return std::nullopt;
  return now + std::clamp(seen / share - seen, kShortest, terms_.longest);
}

std::optional<Instant> WatchDuty::dark_until(Instant now, const View& view) {
  if (!watching_) watching_ = now;
  if (!view.certain) {
    certain_since_.reset();
    measured_.reset();
    const double cost = view.launches_per_second * terms_.per_launch.value();
    if (cost <= 0 || terms_.bearable / cost > kWorthIt) return std::nullopt;
    return look_now_and_then(now, terms_.bearable / cost);
  }
  lost_since_.reset();
  if (!certain_since_) certain_since_ = now;
  const Seconds settle = view.known_phase ? terms_.settle_known : terms_.settle;
  if (now - *certain_since_ < settle) return std::nullopt;

  const double cost = view.launches_per_second * terms_.per_launch.value();
  if (cost <= 0 || terms_.bearable / cost > kWorthIt) return std::nullopt;
  const double share = terms_.bearable / cost;
  const double glances = view.ticks ? 0 : std::min(terms_.glances, share / 3);
  const Seconds stretch = kStretch * view.window;
  const Seconds pause = stretch / (share - glances) - stretch;

  const Seconds seen = now - *watching_;
  const bool window_due = !measured_ || now - *measured_ >= pause;
  if (window_due && !view.measured) return std::nullopt;
  if (!window_due && !view.ticks && (seen < terms_.glance || view.iterations < 1)) {
    return std::nullopt;
  }
  if (view.measured) measured_ = now;
  if (!window_due) last_glance_ = seen;

  Seconds dark = *measured_ + pause - now;
  if (glances > 0) dark = std::min(dark, last_glance_ / glances);
  return now + std::clamp(dark, kShortest, terms_.longest);
}

}  // namespace hypermile
