// SPDX-License-Identifier: Apache-2.0
#include "base/parse.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string>

namespace hypermile {
namespace {

Error expected(std::string_view what, std::string_view text) {
  return Error{ErrorCode::kUsage,
               "expected " + std::string(what) + ", got '" + std::string(text) + "'"};
}

template <class Number>
bool parse_whole(std::string_view text, Number& out) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

struct DurationUnit {
  std::string_view suffix;
  double seconds;
};
// Longer suffixes first: "ms" ends in "s".
constexpr std::array<DurationUnit, 6> kDurationUnits = {
    {{"min", 60}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"h", 3600}, {"s", 1}}};

}  // namespace

Result<double> parse_number(std::string_view text) {
  double value = 0;
  if (!parse_whole(text, value) || !std::isfinite(value)) return expected("a number", text);
  return value;
}

Result<long long> parse_integer(std::string_view text) {
  long long value = 0;
  if (!parse_whole(text, value)) return expected("a whole number", text);
  return value;
}

Result<Seconds> parse_duration(std::string_view text) {
  std::string_view number = text;
  double scale = 1;
  for (const DurationUnit& unit : kDurationUnits) {
    if (text.ends_with(unit.suffix)) {
      number.remove_suffix(unit.suffix.size());
      scale = unit.seconds;
      break;
    }
  }
  const Result<double> value = parse_number(number);
  constexpr double kLongest = 1e9;  // seconds: 30 years, far from the end of any clock
  if (!value || *value < 0 || *value * scale > kLongest)
    return expected("a duration such as 20ms, 1.5s or 100s", text);
  return Seconds(*value * scale);
}

Result<double> parse_fraction(std::string_view text) {
  const bool percent = text.ends_with('%');
  const Result<double> value = parse_number(percent ? text.substr(0, text.size() - 1) : text);
  if (!value) return expected("a fraction such as 5% or 0.05", text);
  return percent ? *value / 100 : *value;
}

Result<double> parse_slowdown(std::string_view text) {
  Result<double> value = parse_fraction(text);
  if (!value) return expected("a slowdown such as 5%, 0.05 or 1.05", text);
  if (text.ends_with('%')) {
    if (*value < 0 || *value > 1) return expected("a slowdown between 0% and 100%", text);
    return value;
  }
  // Zeus writes the factor, 1.05. A bare 2 is neither that nor a fraction, and would allow the job
  // to take twice its time.
  constexpr double kLargestFactor = 1.5;
  if (*value < 0) return expected("a slowdown between 0% and 100%", text);
  if (*value < 1) return value;
  if (*value > 1 && *value <= kLargestFactor) return *value - 1;
  return Error{ErrorCode::kUsage, std::string("'") + std::string(text) + "' is no clear slowdown",
               *value <= 100
                   ? fmt::format("write {0:g}% for {0:g} percent, or a factor such as {1:g}",
                                 *value, 1 + *value / 100)
                   : "write a percentage such as 5%"};
}

}  // namespace hypermile
