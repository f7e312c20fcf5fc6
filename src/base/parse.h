// SPDX-License-Identifier: Apache-2.0
//
// Numbers, durations and fractions as people write them on the command line, in configuration and
// in data files. Every function rejects trailing text, NaN and infinity; its kUsage error says what
// it expected.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace hypermile {

Result<double> parse_number(std::string_view text);
Result<long long> parse_integer(std::string_view text);

// "20ms", "1.5s", "100s", "200us", "2min", "1h"; a bare number is seconds.
Result<Seconds> parse_duration(std::string_view text);

// "5%" or "0.05"; both give 0.05.
Result<double> parse_fraction(std::string_view text);

// A slowdown bound as a fraction, from 0 to 1: "5%", "0.05", or the factor "1.05" that Zeus uses.
Result<double> parse_slowdown(std::string_view text);

}  // namespace hypermile
