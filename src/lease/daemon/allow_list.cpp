// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/allow_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace hypermile {
namespace {

void cap(std::optional<KnobRange>& range, std::optional<double> most) {
  if (!range || !most) return;
  range->max = std::min(range->max, *most);
  if (range->min > range->max) range.reset();
}

std::optional<KnobRange> common(const std::optional<KnobRange>& a,
                                const std::optional<KnobRange>& b) {
  if (!a || !b) return std::nullopt;
  const KnobRange range{std::max(a->min, b->min), std::min(a->max, b->max)};
  return range.min <= range.max ? std::optional(range) : std::nullopt;
}

}  // namespace

Rights unlimited_rights() {
  const KnobRange any;
  return Rights{Bounds{any, any, any, false}, Seconds(std::numeric_limits<double>::infinity())};
}

bool Subjects::include(const Peer& peer) const {
  if (everyone || users.contains(peer.uid)) return true;
  return std::ranges::any_of(peer.groups, [&](gid_t group) { return groups.contains(group); });
}

bool AllowList::administrator(const Peer& peer) const {
  return peer.privileged || administrators.include(peer);
}

Result<Rights> AllowList::rights(const Peer& peer, const GpuUuid& gpu) const {
  const auto rule = std::ranges::find_if(rules, [&](const Rule& candidate) {
    return candidate.subjects.include(peer) &&
           (candidate.gpus.empty() || candidate.gpus.contains(gpu));
  });
  if (rule != rules.end()) return rule->rights;
  if (peer.privileged) return unlimited_rights();
  return Error{ErrorCode::kPermission,
               fmt::format("user {} may not change {}", peer.uid, gpu.text()),
               "ask the administrator for a rule in hypermiled.toml"};
}

Bounds both(const Bounds& a, const Bounds& b) {
  return {common(a.sm_clock, b.sm_clock), common(a.memory_clock, b.memory_clock),
          common(a.power_limit, b.power_limit), a.clamp && b.clamp};
}

Bounds capped(Bounds bounds, const Setting& baseline) {
  cap(bounds.sm_clock, baseline.value(Knob::kSmClock));
  cap(bounds.memory_clock, baseline.value(Knob::kMemoryClock));
  cap(bounds.power_limit, baseline.value(Knob::kPowerLimit));
  return bounds;
}

}  // namespace hypermile
