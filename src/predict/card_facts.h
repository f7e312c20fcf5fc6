// SPDX-License-Identifier: Apache-2.0
//
// Peak rates, from the vendors' data sheets, of the cards in published sweeps. feature_columns.cpp
// divides counters that come as rates or counts by these peaks. On a card outside the table those
// features stay unknown.
#pragma once

#include <optional>
#include <string_view>

#include "base/units.h"

namespace hypermile {

struct CardFacts {
  std::string_view gpu;  // the name that the sweeps use
  Watts power_limit;
  double dram_bytes_per_clock;  // per cycle of the memory clock that NVML reports, all channels
  double l2_bytes_per_clock;    // per cycle of the SM clock
  double fp32_lanes;            // lanes of the whole card
  double fp64_lanes;
  double integer_lanes;
};

std::optional<CardFacts> card_facts(std::string_view gpu);

}  // namespace hypermile
