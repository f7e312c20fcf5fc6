// SPDX-License-Identifier: Apache-2.0
//
// Which Settings `hypermile sweep` measures: what --grid says, applied to what a card offers.
//
//   sm=12           twelve SM clocks, evenly from the default's down to 0.4 of it
//   sm=12,mem=all   those at every memory clock
//   sm=1500/1200    these SM clocks, or the nearest that the card has
//   limit=4         four power limits, at clocks left to the driver
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
  // kUsage says what was expected.
  static Result<SweepGrid> parse(std::string_view text);

  std::vector<Knob> knobs() const;
  const std::string& text() const { return text_; }

  // Of `offered` (the default first): coarse to fine, so that a sweep that is interrupted covers
  // the range. kUnsupported where nothing is left.
  Result<std::vector<Setting>> choose(std::span<const Setting> offered) const;

 private:
  struct Axis {
    std::optional<std::size_t> count;  // absent: all
    std::vector<double> values;        // these, where there are any
  };
  static Result<Axis> parse_axis(std::string_view text);
  std::vector<double> pick(Knob knob, std::span<const Setting> offered) const;

  std::string text_;
  std::map<Knob, Axis> axes_;
};

}  // namespace hypermile
