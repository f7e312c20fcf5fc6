// SPDX-License-Identifier: Apache-2.0
#include "daemon/allow_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace hypermile {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr const char* kAskAdministrator = "ask the administrator for a rule in hypermiled.toml";

std::string_view unit(Knob knob) {
  return knob == Knob::kPowerLimit ? "W" : "MHz";
}

std::span<const Mhz> supported(Knob knob, const Capabilities& capabilities) {
  if (knob == Knob::kSmClock) return capabilities.sm_clocks;
  if (knob == Knob::kMemoryClock) return capabilities.memory_clocks;
  return {};
}

Error outside(Knob knob, double value, const Bounds& bounds) {
  const std::string most = std::isfinite(bounds.max) ? fmt::format(" to {:g}", bounds.max) : "";
  return Error{ErrorCode::kPermission,
               fmt::format("{}={:g}{} is outside what you may set, {:g}{} {}", to_string(knob),
                           value, unit(knob), bounds.min, most, unit(knob)),
               kAskAdministrator};
}

// The allowed value nearest to `value`; nullopt where the card has none within the bounds.
std::optional<double> clamped(Knob knob, double value, const Bounds& bounds,
                              const Capabilities& capabilities) {
  const double nearest = std::clamp(value, bounds.min, bounds.max);
  const std::span<const Mhz> clocks = supported(knob, capabilities);
  if (clocks.empty()) return nearest;
  std::optional<double> best;
  for (const Mhz clock : clocks) {
    if (clock.value() < bounds.min || clock.value() > bounds.max) continue;
    if (!best || std::abs(clock.value() - nearest) < std::abs(*best - nearest)) {
      best = clock.value();
    }
  }
  return best;
}

}  // namespace

std::optional<Bounds> Rights::bounds(Knob knob) const {
  switch (knob) {
    case Knob::kSmClock:
      return sm_clock;
    case Knob::kMemoryClock:
      return memory_clock;
    case Knob::kPowerLimit:
      return power_limit;
  }
  return std::nullopt;
}

Rights unlimited_rights() {
  const Bounds any{0, kInfinity};
  return Rights{any, any, any, Beyond::kDeny, Seconds(kInfinity)};
}

bool Subjects::include(const Peer& peer) const {
  if (everyone || users.contains(peer.uid)) return true;
  return std::ranges::any_of(peer.groups, [&](gid_t group) { return groups.contains(group); });
}

bool AllowList::administrator(const Peer& peer) const {
  return peer.uid == 0 || administrators.include(peer);
}

Result<Rights> AllowList::rights(const Peer& peer, const GpuUuid& gpu) const {
  const auto rule = std::ranges::find_if(rules, [&](const Rule& candidate) {
    return candidate.subjects.include(peer) &&
           (candidate.gpus.empty() || candidate.gpus.contains(gpu));
  });
  if (rule != rules.end()) return rule->rights;
  if (peer.uid == 0) return unlimited_rights();
  return Error{ErrorCode::kPermission,
               fmt::format("user {} may not change {}", peer.uid, gpu.text()), kAskAdministrator};
}

Result<Setting> permitted(const Setting& wanted, const Rights& rights, const Setting& baseline,
                          const Capabilities& capabilities) {
  Setting allowed;
  for (const Knob knob : kAllKnobs) {
    const std::optional<double> value = wanted.value(knob);
    if (!value) continue;
    if (!std::isfinite(*value) || *value <= 0) {
      return Error{ErrorCode::kUsage, fmt::format("{}={:g} is no value", to_string(knob), *value)};
    }
    std::optional<Bounds> bounds = rights.bounds(knob);
    if (!bounds) {
      return Error{ErrorCode::kPermission,
                   fmt::format("you may not change {} on this GPU", to_string(knob)),
                   kAskAdministrator};
    }
    bounds->max = std::min(bounds->max, baseline.value(knob).value_or(kInfinity));
    if (*value >= bounds->min && *value <= bounds->max) {
      allowed.set(knob, *value);
      continue;
    }
    const std::optional<double> nearest =
        rights.beyond == Beyond::kClamp && bounds->min <= bounds->max
            ? clamped(knob, *value, *bounds, capabilities)
            : std::nullopt;
    if (!nearest) return outside(knob, *value, *bounds);
    allowed.set(knob, *nearest);
  }
  return allowed;
}

}  // namespace hypermile
