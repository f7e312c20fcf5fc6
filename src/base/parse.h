// SPDX-License-Identifier: Apache-2.0
//
// The written forms that command line, configuration and data files share. All reject trailing
// text, NaN and infinity, and say what they expected.
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace hypermile {

Result<double> parse_number(std::string_view text);
Result<long long> parse_integer(std::string_view text);

// "20ms", "1.5s", "100s", "200us", "2min", "1h"; a bare number is seconds.
Result<Seconds> parse_duration(std::string_view text);

// "5%" or "0.05".
Result<double> parse_fraction(std::string_view text);

// A slowdown bound as a fraction: "5%", "0.05", or Zeus users' factor "1.05". At most 100 %.
Result<double> parse_slowdown(std::string_view text);

}  // namespace hypermile
