// SPDX-License-Identifier: Apache-2.0
//
// The values of options: whether a text is a value of its option, the values of one call, and the
// values that come from the environment. The table itself is in options.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "base/environment_variable.h"
#include "base/parse.h"
#include "base/tariff.h"
#include "cli/options.h"

namespace hypermile {
namespace {

using enum OptionKind;

Error bad_value(const OptionSpec& spec, const Error& error) {
  return Error{ErrorCode::kUsage, fmt::format("--{}: {}", spec.name, error.message), error.remedy};
}

Result<void> check(const OptionSpec& spec, std::string_view text) {
  switch (spec.kind) {
    case kFlag:
      if (text == "true" || text == "false") return {};
      return Error{ErrorCode::kUsage, fmt::format("expected true or false, got '{}'", text)};
    case kAddress:
    case kText:
    case kList:
      if (!text.empty()) return {};
      return Error{ErrorCode::kUsage, "expected a value, got nothing"};
    case kInteger: {
      ASSIGN_OR_RETURN(const long long number, parse_integer(text));
      if (number > spec.most) {
        return Error{ErrorCode::kUsage,
                     fmt::format("expected {} or less, got '{}'", spec.most, text)};
      }
      if (number >= 0) return {};
      return Error{ErrorCode::kUsage, fmt::format("expected 0 or more, got '{}'", text)};
    }
    case kNumber:
    case kFraction: {
      ASSIGN_OR_RETURN(const double number,
                       spec.kind == kNumber ? parse_number(text) : parse_fraction(text));
      if (number >= 0) return {};
      return Error{ErrorCode::kUsage, fmt::format("expected 0 or more, got '{}'", text)};
    }
    case kSlowdown:
      RETURN_IF_ERROR(parse_slowdown(text));
      return {};
    case kDuration:
      RETURN_IF_ERROR(parse_duration(text));
      return {};
    case kPrice:
      RETURN_IF_ERROR(parse_price(text));
      return {};
    case kCarbon:
      RETURN_IF_ERROR(parse_carbon(text));
      return {};
  }
  return {};
}

}  // namespace

Result<void> validate_option(const OptionSpec& spec, std::string_view text) {
  const Result<void> result = check(spec, text);
  if (!result) return bad_value(spec, result.error());
  return {};
}

OptionValues::OptionValues(std::string_view command) : specs_(options_of(command)) {}

void OptionValues::set(std::string_view name, std::string text) {
  assert(validate_option(spec(name), text).ok());
  given_[std::string(name)] = std::move(text);
}

const OptionSpec& OptionValues::spec(std::string_view name) const {
  const auto found = std::ranges::find(specs_, name, &OptionSpec::name);
  assert(found != specs_.end());
  return *found;
}

std::string OptionValues::text(std::string_view name) const {
  const auto found = given_.find(std::string(name));
  return found != given_.end() ? found->second : std::string(spec(name).fallback);
}

std::vector<std::string> OptionValues::list(std::string_view name) const {
  std::vector<std::string> items;
  std::string rest = text(name);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    if (end > 0) items.push_back(rest.substr(0, end));
    rest.erase(0, end + 1);
  }
  return items;
}

long long OptionValues::integer(std::string_view name) const {
  return *parse_integer(text(name));
}

double OptionValues::number(std::string_view name) const {
  const std::string value = text(name);
  if (spec(name).kind == kSlowdown) return *parse_slowdown(value);
  if (spec(name).kind == kFraction) return *parse_fraction(value);
  return *parse_number(value);
}

Seconds OptionValues::duration(std::string_view name) const {
  return *parse_duration(text(name));
}

std::string variable_of(const OptionSpec& spec) {
  std::string name = "HYPERMILE_" + std::string(spec.name);
  std::ranges::replace(name, '-', '_');
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return name;
}

Result<void> read_environment(std::string_view command, OptionValues& values) {
  for (const OptionSpec& spec : options_of(command)) {
    if (!spec.in_environment || values.given(spec.name)) continue;
    const std::string variable = variable_of(spec);
    const std::string text(environment_variable(variable.c_str()).value_or(""));
    if (text.empty()) continue;
    if (const Result<void> valid = check(spec, text); !valid) {
      return Error{ErrorCode::kUsage, fmt::format("{}: {}", variable, valid.error().message),
                   valid.error().remedy};
    }
    values.set(spec.name, text);
  }
  return {};
}

}  // namespace hypermile
