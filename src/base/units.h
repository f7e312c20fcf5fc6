// SPDX-License-Identifier: Apache-2.0
//
// Physical quantities as types: a Mhz cannot be passed where Watts are wanted. Only physically
// meaningful arithmetic compiles: Watts * Seconds gives Joules, Joules / Seconds gives Watts, and a
// quantity divided by its own kind gives a plain number. Each type holds a double in the unit of
// its name.
#pragma once

#include <compare>

namespace hypermile {

template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : value_(value) {}

  constexpr double value() const { return value_; }

  constexpr auto operator<=>(const Quantity&) const = default;

  constexpr Quantity operator-() const { return Quantity(-value_); }
  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }

  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value_ + b.value_);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value_ - b.value_);
  }
  friend constexpr Quantity operator*(Quantity a, double k) { return Quantity(a.value_ * k); }
  friend constexpr Quantity operator*(double k, Quantity a) { return Quantity(a.value_ * k); }
  friend constexpr Quantity operator/(Quantity a, double k) { return Quantity(a.value_ / k); }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }

 private:
  double value_ = 0;
};

using Mhz = Quantity<struct MhzTag>;
using Watts = Quantity<struct WattsTag>;
using Joules = Quantity<struct JoulesTag>;
using Seconds = Quantity<struct SecondsTag>;
using Celsius = Quantity<struct CelsiusTag>;

constexpr Joules operator*(Watts p, Seconds t) {
  return Joules(p.value() * t.value());
}
constexpr Joules operator*(Seconds t, Watts p) {
  return p * t;
}
constexpr Watts operator/(Joules e, Seconds t) {
  return Watts(e.value() / t.value());
}
constexpr Seconds operator/(Joules e, Watts p) {
  return Seconds(e.value() / p.value());
}

constexpr Seconds milliseconds(double ms) {
  return Seconds(ms * 1e-3);
}
constexpr Seconds microseconds(double us) {
  return Seconds(us * 1e-6);
}

}  // namespace hypermile
