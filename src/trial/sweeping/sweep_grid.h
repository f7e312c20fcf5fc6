// SPDX-License-Identifier: Apache-2.0
//
// Which settings `hypermile sweep` measures: the choice of --grid among the settings of a card.
//
//   sm=12           twelve SM clocks, evenly from the default's down to 0.4 of it
//   sm=12,mem=all   the same twelve SM clocks at every memory clock
//   sm=1500/1200    these SM clocks, or the nearest that the card has
//   limit=4         four power limits; the driver chooses the clocks
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
  // kUsage where `text` is no grid.
  static Result<SweepGrid> parse(std::string_view text);

  std::vector<Knob> knobs() const;
  const std::string& text() const { return text_; }

  // The chosen settings among `offered`, which begins with the default. Their order is coarse to
  // fine, so that an interrupted sweep covers the range. kUnsupported where none can be chosen.
  Result<std::vector<Setting>> choose(std::span<const Setting> offered) const;

 private:
  struct Axis {
    std::optional<std::size_t> count;  // of values, evenly spaced; absent: all
    std::vector<double> values;        // where not empty, only these
  };
  static Result<Axis> parse_axis(std::string_view text);
  std::vector<double> pick(Knob knob, std::span<const Setting> offered) const;

  std::string text_;
  std::map<Knob, Axis> axes_;
};

}  // namespace hypermile
