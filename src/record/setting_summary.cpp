// SPDX-License-Identifier: Apache-2.0
#include "record/setting_summary.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

struct Group {
  Setting setting;
  std::size_t windows = 0;
  std::size_t unusable = 0;
  WeightedMean time;
  WeightedMean power;
  WeightedMean energy;
};

// Windows that may be compared with each other.
struct Comparable {
  std::optional<std::int64_t> process;
  PatternId pattern;
  double seconds = 0;  // spent in them
};

// Those that most of the log's time was spent in.
Comparable main_part(std::span<const Event> events) {
  std::vector<Comparable> parts;
  for (const Event& event : events) {
    const auto* body = std::get_if<WindowEvent>(&event.body);
    if (body == nullptr) continue;
    auto part = std::ranges::find_if(parts, [&](const Comparable& each) {
      return each.process == body->process && each.pattern == body->window.pattern;
    });
    if (part == parts.end()) {
      part = parts.insert(parts.end(), {body->process, body->window.pattern, 0});
    }
    part->seconds += body->window.duration.value();
  }
  const auto most = std::ranges::max_element(parts, {}, &Comparable::seconds);
  return most != parts.end() ? *most : Comparable{};
}

Group& group_of(std::vector<Group>& groups, const Setting& setting) {
  const auto found = std::ranges::find(groups, setting, &Group::setting);
  if (found != groups.end()) return *found;
  groups.push_back(Group{setting, 0, 0, {}, {}, {}});
  return groups.back();
}

}  // namespace

std::vector<SettingSummary> summarize_settings(std::span<const Event> events) {
  std::vector<Group> groups;
  const Comparable main = main_part(events);
  for (const Event& event : events) {
    const auto* body = std::get_if<WindowEvent>(&event.body);
    if (body == nullptr || body->process != main.process ||
        !(body->window.pattern == main.pattern)) {
      continue;
    }
    const Window& window = body->window;
    Group& group = group_of(groups, window.setting);
    if (!window.usable() || window.iterations <= 0) {
      ++group.unusable;
      continue;
    }
    ++group.windows;
    const double time = window.time_per_iteration->value();
    group.time.add(time, window.iterations);
    group.power.add(window.power->value(), window.iterations);
    group.energy.add(time * window.power->value(), window.iterations);
  }
  std::erase_if(groups, [](const Group& group) { return group.windows == 0; });
  std::vector<SettingSummary> summaries;
  for (const Group& group : groups) {
    summaries.push_back({group.setting,
                         group.windows,
                         group.unusable,
                         group.time.estimate(),
                         group.power.estimate(),
                         group.energy.estimate(),
                         {},
                         {}});
  }
  const auto base = std::ranges::find_if(
      summaries, [](const SettingSummary& summary) { return summary.setting.empty(); });
  if (base == summaries.end()) return summaries;
  for (SettingSummary& summary : summaries) {
    summary.slowdown = summary.time_s.mean / base->time_s.mean - 1;
    summary.saved = 1 - summary.energy_j.mean / base->energy_j.mean;
  }
  return summaries;
}

}  // namespace hypermile
