// SPDX-License-Identifier: Apache-2.0
//
// What a kilowatt-hour costs and emits, as people write it: `--price 0.30EUR/kWh`, `--carbon
// 380g/kWh` or `--carbon FR`. The command line reads it; the figures of a run
// (record/run_figures.h) use it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hypermile {

inline constexpr double kJoulesPerKwh = 3.6e6;

struct Price {
  double per_kwh = 0;
  std::string currency;  // "EUR", "$"
};

struct CarbonIntensity {
  double g_per_kwh = 0;
  std::string source;  // "as given", or country, year and who published it
};

struct Tariff {
  std::optional<Price> price = {};
  std::optional<CarbonIntensity> carbon = {};
};

// "0.30EUR/kWh", "0.30 EUR/kWh", "0.3€/kWh". kUsage otherwise.
Result<Price> parse_price(std::string_view text);

// "380g/kWh", "0.38kg/kWh" or a country of carbon/intensity.csv. kUsage, with the countries that
// are known, otherwise.
Result<CarbonIntensity> parse_carbon(std::string_view text);

// A tariff as run_start's environment holds it, and back. What is absent or broken there is absent.
std::map<std::string, std::string> describe(const Tariff& tariff);
Tariff tariff_from(const std::map<std::string, std::string>& environment);

}  // namespace hypermile
