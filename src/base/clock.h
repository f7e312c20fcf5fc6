// SPDX-License-Identifier: Apache-2.0
//
// Every wait and every time stamp goes through a Clock. A real job gets the system's clock; tests
// and simulations get a virtual one that jumps ahead when somebody sleeps, so a day of simulated
// training takes seconds and repeats exactly. No call here fails.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <memory>
#include <stop_token>

#include "base/units.h"

namespace hypermile {

// A point on one clock's monotonic axis. Points of different clocks must not be mixed.
class Instant {
 public:
  constexpr Instant() = default;
  static constexpr Instant from_nanoseconds(std::int64_t ns) {
    Instant instant;
    instant.ns_ = ns;
    return instant;
  }
  constexpr std::int64_t nanoseconds() const { return ns_; }
  // Dividing gives the nearest double, so a time that is written and read back stays the same.
  constexpr Seconds since_origin() const { return Seconds(static_cast<double>(ns_) / 1e9); }

  constexpr auto operator<=>(const Instant&) const = default;

  friend constexpr Seconds operator-(Instant a, Instant b) {
    return Seconds(static_cast<double>(a.ns_ - b.ns_) * 1e-9);
  }
  // Rounds to the nanosecond.
  friend constexpr Instant operator+(Instant a, Seconds d) {
    const double ns = d.value() * 1e9;
    return from_nanoseconds(a.ns_ + static_cast<std::int64_t>(ns < 0 ? ns - 0.5 : ns + 0.5));
  }
  friend constexpr Instant operator-(Instant a, Seconds d) { return a + -d; }

 private:
  std::int64_t ns_ = 0;
};

class Clock {
 public:
  virtual ~Clock() = default;

  virtual Instant now() const = 0;
  // Seconds since the Unix epoch, for people and files. Never measure with it: it can jump.
  virtual double unix_time() const = 0;
  // Returns at `until`, or at once if `until` has passed, or early when `stop` is requested.
  virtual void sleep_until(Instant until, std::stop_token stop = {}) = 0;

  void sleep_for(Seconds duration, std::stop_token stop = {}) {
    sleep_until(now() + duration, std::move(stop));
  }
};

// Reads CLOCK_MONOTONIC. Any thread may call it.
std::unique_ptr<Clock> make_real_clock();

// Starts at zero and moves only through sleep_until() and advance(). One thread drives it; other
// threads may read it.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(double unix_origin = 0) : unix_origin_(unix_origin) {}

  Instant now() const override { return Instant::from_nanoseconds(ns_.load()); }
  double unix_time() const override { return unix_origin_ + now().since_origin().value(); }
  void sleep_until(Instant until, std::stop_token stop = {}) override;
  void advance(Seconds by) { sleep_until(now() + by); }

 private:
  std::atomic<std::int64_t> ns_ = 0;
  double unix_origin_;
};

}  // namespace hypermile
