// SPDX-License-Identifier: Apache-2.0
#include "trial/sweeping/sweep_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/nearest.h"
#include "base/parse.h"

namespace hypermile {
namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = std::min(text.find(at), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

Error expected(std::string_view text) {
  return Error{ErrorCode::kUsage, fmt::format("--grid: cannot read '{}'", text),
               "write it as sm=12, sm=12,mem=all, sm=1500/1200 or limit=4"};
}

Result<Knob> knob_named(std::string_view name) {
  std::vector<std::string> names;
  for (const Knob knob : kAllKnobs) {
    if (to_string(knob) == name) return knob;
    names.emplace_back(to_string(knob));
  }
  return Error{ErrorCode::kUsage, fmt::format("--grid: unknown knob '{}'", name),
               suggestion(std::string(name), names)};
}

// The numbers below `count` in bit-reversed order, so that every prefix covers the whole range.
std::vector<std::size_t> coarse_to_fine(std::size_t count) {
  std::vector<std::size_t> order;
  std::size_t size = 1;
  while (size < count) size *= 2;
  for (std::size_t i = 0; i < size; ++i) {
    std::size_t mirrored = 0;
    for (std::size_t bit = 1, other = size / 2; bit < size; bit *= 2, other /= 2) {
      if ((i & bit) != 0) mirrored |= other;
    }
    if (mirrored < count) order.push_back(mirrored);
  }
  return order;
}

std::vector<double> evenly(const std::vector<double>& values, std::size_t count) {
  if (count >= values.size()) return values;
  if (count == 1) return {values.back()};
  std::vector<double> picked;
  const double stride = static_cast<double>(values.size() - 1) / static_cast<double>(count - 1);
  for (std::size_t i = 0; i < count; ++i) {
    picked.push_back(
        values[static_cast<std::size_t>(std::lround(stride * static_cast<double>(i)))]);
  }
  return picked;
}

}  // namespace

Result<SweepGrid::Axis> SweepGrid::parse_axis(std::string_view text) {
  if (text == "all") return Axis{};
  Axis axis;
  const auto parts = split(text, '/');
  for (const std::string_view part : parts) {
    const Result<double> number = parse_number(part);
    if (!number || *number <= 0) return expected(text);
    axis.values.push_back(*number);
  }
  // A single small integer is a count, as clocks and limits are larger.
  constexpr double kMostCounted = 50;
  if (parts.size() == 1 && axis.values.front() <= kMostCounted) {
    if (axis.values.front() != std::floor(axis.values.front())) return expected(text);
    axis.count = static_cast<std::size_t>(axis.values.front());
    axis.values.clear();
  }
  return axis;
}

Result<SweepGrid> SweepGrid::parse(std::string_view text) {
  SweepGrid grid;
  grid.text_ = text;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == part.npos) return expected(part);
    ASSIGN_OR_RETURN(const Knob knob, knob_named(part.substr(0, equals)));
    ASSIGN_OR_RETURN(const Axis axis, parse_axis(part.substr(equals + 1)));
    if (!grid.axes_.emplace(knob, axis).second) return expected(text);
  }
  return grid;
}

std::vector<Knob> SweepGrid::knobs() const {
  std::vector<Knob> knobs;
  for (const auto& [knob, axis] : axes_) knobs.push_back(knob);
  return knobs;
}

std::vector<double> SweepGrid::pick(Knob knob, std::span<const Setting> offered) const {
  const auto axis = axes_.find(knob);
  if (axis == axes_.end()) return {};
  std::vector<double> values;
  for (const Setting& setting : offered) {
    if (const auto value = setting.value(knob)) values.push_back(*value);
  }
  std::ranges::sort(values, std::greater<>());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.empty() || axis->second.values.empty()) {
    return axis->second.count ? evenly(values, *axis->second.count) : values;
  }
  std::vector<double> nearest;
  for (const double wanted : axis->second.values) {
    nearest.push_back(*std::ranges::min_element(
        values, {}, [&](double value) { return std::abs(value - wanted); }));
  }
  std::ranges::sort(nearest, std::greater<>());
  nearest.erase(std::unique(nearest.begin(), nearest.end()), nearest.end());
  return nearest;
}

Result<std::vector<Setting>> SweepGrid::choose(std::span<const Setting> offered) const {
  const std::vector<double> sm = pick(Knob::kSmClock, offered);
  const std::vector<double> memory = pick(Knob::kMemoryClock, offered);
  const std::vector<double> limit = pick(Knob::kPowerLimit, offered);
  const auto has = [](const std::vector<double>& values, std::optional<double> value) {
    return !value || std::ranges::find(values, *value) != values.end();
  };
  std::vector<Setting> chosen;
  for (const Setting& setting : offered) {
    if (setting.empty()) continue;
    if (setting.power_limit && (setting.sm_clock || setting.memory_clock)) continue;
    const bool wanted = has(sm, setting.value(Knob::kSmClock)) &&
                        has(memory, setting.value(Knob::kMemoryClock)) &&
                        has(limit, setting.value(Knob::kPowerLimit));
    if (wanted) chosen.push_back(setting);
  }
  if (chosen.empty()) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("this GPU offers no setting of the grid {}", text_),
                 "see 'hypermile doctor' for the clocks and limits that it has"};
  }
  std::vector<Setting> ordered;
  for (const std::size_t i : coarse_to_fine(chosen.size())) ordered.push_back(chosen[i]);
  return ordered;
}

}  // namespace hypermile
