// SPDX-License-Identifier: Apache-2.0
//
// What is to be least, and what must hold meanwhile. Everything is relative to the default Setting:
// a time ratio of 1.03 is 3 % slower, a power ratio of 0.8 draws 20 % less.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"
#include "base/units.h"

namespace hypermile {

enum class Goal { kEnergy, kEdp, kEd2p, kCost, kPerformance };

struct Objective {
  Goal goal = Goal::kEnergy;
  // A promise for the Setting kept and for the whole job. Absent: slowing down has no limit but its
  // price in the goal. 0 means "no measurable slowdown", see effective_bound().
  std::optional<double> max_slowdown = 0.05;
  // kCost: eta * energy + (1 - eta) * max power * time, as Zeus defines it.
  double eta = 0.5;
  // kPerformance: least time among the Settings that save this share of the energy or more.
  double least_saving = 0.05;
  // What the rest of the node burns while the job runs; slowing down must not cost more than it
  // saves.
  Watts host_power = Watts(0);
  // Mean board power that the Setting kept may not exceed.
  std::optional<Watts> power_budget = {};
};

// The type of one number of a Value, see score_of().
inline double number_like(double x) {
  return x;
}
template <class Array>
typename Array::Scalar number_like(const Array&);

// Slowdowns below this cannot be told from noise, so a bound of 0 means this.
inline constexpr double kNoMeasurableSlowdown = 0.005;

// The bound to hold, as a fraction: max_slowdown, but at least kNoMeasurableSlowdown; nullopt:
// none.
std::optional<double> effective_bound(const Objective& objective);

// What the goal gives to a Setting with these ratios to the default; 1 is the default itself, less
// is better. `default_power` is the board's mean power at the default.
double score(const Objective& objective, double time_ratio, double power_ratio,
             Watts default_power);

// What a person calls saved, as a share of the default's: 1 - score, and under kPerformance the
// energy, since its score has no unit.
double saved_share(const Objective& objective, double time_ratio, double power_ratio,
                   Watts default_power);

// The same as score() for many at once: Value is an array with the usual arithmetic, or a double.
template <class Value>
Value score_of(const Objective& objective, const Value& time_ratio, const Value& power_ratio,
               Watts default_power) {
  using Number = decltype(number_like(time_ratio));
  // The host draws the same power throughout, so it dilutes what the board saves.
  const auto host =
      static_cast<Number>(default_power > Watts(0) ? objective.host_power / default_power : 0);
  const Value energy = time_ratio * (power_ratio + host) / (1 + host);
  switch (objective.goal) {
    case Goal::kEnergy:
      return energy;
    case Goal::kEdp:
      return energy * time_ratio;
    case Goal::kEd2p:
      return energy * time_ratio * time_ratio;
    case Goal::kCost: {
      // Zeus prices time at the board's maximum power; at the default that is what the board draws.
      const auto eta = static_cast<Number>(objective.eta);
      return eta * energy + (1 - eta) * time_ratio;
    }
    case Goal::kPerformance: {
      // What saves too little is ranked by its energy, and lies above everything that saves enough,
      // which is ranked by time: t / (1 + t) grows with t and stays below 1.
      const auto most = static_cast<Number>(1 - objective.least_saving);
      if constexpr (std::is_same_v<Value, double>) {
        return energy > most ? energy : most * time_ratio / (1 + time_ratio);
      } else {
        return (energy > most).select(energy, most * time_ratio / (1 + time_ratio));
      }
    }
  }
  return energy;
}

// "energy", "edp", "ed2p", "cost:0.7", "performance:5%".
Result<Objective> parse_objective(std::string_view text);
std::string to_string(const Objective& objective);

// For an event log: "objective", "host_watts", and "max_slowdown" (the bound to hold, as a
// fraction) where there is one.
std::map<std::string, std::string> describe(const Objective& objective);

}  // namespace hypermile
