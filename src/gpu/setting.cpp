// SPDX-License-Identifier: Apache-2.0
#include "gpu/setting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "base/parse.h"

namespace hypermile {
namespace {

struct KnobForm {
  Knob knob;
  std::string_view name;
  std::string_view unit;
};
constexpr KnobForm kForms[] = {{Knob::kSmClock, "sm", "MHz"},
                               {Knob::kMemoryClock, "mem", "MHz"},
                               {Knob::kPowerLimit, "limit", "W"}};

Error not_a_setting(std::string_view text) {
  return Error{ErrorCode::kUsage, fmt::format("expected a setting, got '{}'", text),
               "write it as sm=1410, sm=1410,mem=1593, limit=250 or default"};
}

// Reads one "sm=1410MHz", or a bare "1410", into `setting`.
bool parse_item(std::string_view item, Setting& setting) {
  const std::size_t equals = item.find('=');
  const std::string_view name = equals == item.npos ? "sm" : item.substr(0, equals);
  std::string_view number = equals == item.npos ? item : item.substr(equals + 1);
  for (const KnobForm& form : kForms) {
    if (form.name != name) continue;
    if (number.ends_with(form.unit)) number.remove_suffix(form.unit.size());
    const Result<double> value = parse_number(number);
    if (!value || *value <= 0 || setting.has(form.knob)) return false;
    setting.set(form.knob, *value);
    return true;
  }
  return false;
}

}  // namespace

std::string_view to_string(Knob knob) {
  for (const KnobForm& form : kForms) {
    if (form.knob == knob) return form.name;
  }
  return "?";
}

std::optional<double> Setting::value(Knob knob) const {
  switch (knob) {
    case Knob::kSmClock:
      return sm_clock ? std::optional(sm_clock->value()) : std::nullopt;
    case Knob::kMemoryClock:
      return memory_clock ? std::optional(memory_clock->value()) : std::nullopt;
    case Knob::kPowerLimit:
      return power_limit ? std::optional(power_limit->value()) : std::nullopt;
  }
  return std::nullopt;
}

void Setting::set(Knob knob, double value) {
  switch (knob) {
    case Knob::kSmClock:
      sm_clock = Mhz(value);
      return;
    case Knob::kMemoryClock:
      memory_clock = Mhz(value);
      return;
    case Knob::kPowerLimit:
      power_limit = Watts(value);
      return;
  }
}

void Setting::clear(Knob knob) {
  switch (knob) {
    case Knob::kSmClock:
      sm_clock.reset();
      return;
    case Knob::kMemoryClock:
      memory_clock.reset();
      return;
    case Knob::kPowerLimit:
      power_limit.reset();
      return;
  }
}

Setting overlay(Setting base, const Setting& over) {
  for (const Knob knob : kAllKnobs) {
    if (const auto value = over.value(knob)) base.set(knob, *value);
  }
  return base;
}

std::string to_string(const Setting& setting) {
  std::string out;
  for (const KnobForm& form : kForms) {
    if (const auto value = setting.value(form.knob)) {
      out += fmt::format("{}{}={:g}{}", out.empty() ? "" : " ", form.name, *value, form.unit);
    }
  }
  return out.empty() ? "default" : out;
}

Result<Setting> parse_setting(std::string_view text) {
  Setting setting;
  if (text == "default") return setting;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(", "), rest.size());
    if (!parse_item(rest.substr(0, end), setting)) return not_a_setting(text);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (setting.empty()) return not_a_setting(text);
  return setting;
}

std::string to_string(std::vector<SettingShare> shares, std::size_t most) {
  std::ranges::stable_sort(shares, std::ranges::greater{}, &SettingShare::share);
  if (shares.empty()) return to_string(Setting());
  // A share that rounds to nothing is not worth a reader's time.
  std::erase_if(shares, [&](const SettingShare& one) { return one.share < 0.005; });
  if (shares.size() < 2) return to_string(shares.front().setting);
  std::vector<std::string> parts;
  double others = 0;
  for (const SettingShare& one : shares) {
    if (parts.size() < most) {
      parts.push_back(fmt::format("{:.0f} % {}", 100 * one.share, to_string(one.setting)));
    } else {
      others += one.share;
    }
  }
  if (others > 0) parts.push_back(fmt::format("{:.0f} % others", 100 * others));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace hypermile
