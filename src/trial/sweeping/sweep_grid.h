// SPDX-License-Identifier: Apache-2.0
//
// The settings that `hypermile sweep` measures: the option --grid, applied to what a card offers.
// Pure.
//
//   sm=12           twelve SM clocks, evenly from the default's clock down to 0.4 of it
//   sm=12,mem=all   these clocks at every memory clock
//   sm=1500/1200    these SM clocks, or the card's nearest ones
//   limit=4         four power limits, with clocks left to the driver
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/setting.h"

namespace hypermile {

class SweepGrid {
 public:
  // Returns kUsage with the expected form.
  static Result<SweepGrid> parse(std::string_view text);

  std::vector<Knob> knobs() const;
  const std::string& text() const { return text_; }

  // Chooses from `offered`, whose first entry is the default. The order is coarse to fine, so that
  // an interrupted sweep covers the whole range. Returns kUnsupported where nothing is left.
  Result<std::vector<Setting>> choose(std::span<const Setting> offered) const;

 private:
  struct Axis {
    std::optional<std::size_t> count;  // absent for all values
    std::vector<double> values;        // the requested values, if any
  };
  static Result<Axis> parse_axis(std::string_view text);
  std::vector<double> pick(Knob knob, std::span<const Setting> offered) const;

  std::string text_;
  std::map<Knob, Axis> axes_;
};

}  // namespace hypermile
