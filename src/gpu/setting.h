// SPDX-License-Identifier: Apache-2.0
//
// What a GPU is asked to do. Each knob is optional; an absent knob is left to the driver. Settings
// are plain values, and parsing is the only thing that can fail (kUsage).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace hypermile {

enum class Knob { kSmClock, kMemoryClock, kPowerLimit };
inline constexpr Knob kAllKnobs[] = {Knob::kSmClock, Knob::kMemoryClock, Knob::kPowerLimit};
std::string_view to_string(Knob knob);  // "sm", "mem" or "limit", as in --knobs

struct Setting {
  std::optional<Mhz> sm_clock = {};      // a ceiling: the card may still run below it
  std::optional<Mhz> memory_clock = {};  // a lock
  std::optional<Watts> power_limit = {};

  // True for the driver's default, which requests nothing.
  bool empty() const { return !sm_clock && !memory_clock && !power_limit; }
  bool has(Knob knob) const { return value(knob).has_value(); }
  // The knob's number, in MHz or W.
  std::optional<double> value(Knob knob) const;
  void set(Knob knob, double value);
  void clear(Knob knob);
  bool operator==(const Setting&) const = default;
};

// `base`, with every knob that `over` names replaced by the value in `over`.
Setting overlay(Setting base, const Setting& over);

// "sm=1410MHz mem=1593MHz limit=300W", or "default".
std::string to_string(const Setting& setting);

// A Setting and the share of a job's iterations that it gets, where the job's time is shared.
struct SettingShare {
  Setting setting;
  double share = 1;
};
// "62 % sm=1695MHz, 38 % sm=1410MHz", the largest share first; one Setting alone without a share.
// Where there are more than `most`, the smaller ones are "others".
std::string to_string(std::vector<SettingShare> shares, std::size_t most = 1000);

// Reads the form that to_string() writes, with or without units; also "1410" and
// "sm=1410,mem=1593".
Result<Setting> parse_setting(std::string_view text);

}  // namespace hypermile
