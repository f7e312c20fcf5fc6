// SPDX-License-Identifier: Apache-2.0
//
// Peaks of cards that published sweeps name, from their vendors' sheets: counters that come as
// rates or counts become shares of these. A card that is not in the table has no such features.
#pragma once

#include <optional>
#include <string_view>

#include "base/units.h"

namespace hypermile {

struct CardFacts {
  std::string_view gpu;  // as the sweeps call it
  Watts power_limit;
  double dram_bytes_per_clock;  // of the memory clock as NVML names it, all channels
  double l2_bytes_per_clock;    // of the SM clock
  double fp32_lanes;            // on the whole card
  double fp64_lanes;
  double integer_lanes;
};

std::optional<CardFacts> card_facts(std::string_view gpu);

}  // namespace hypermile
