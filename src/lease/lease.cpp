// SPDX-License-Identifier: Apache-2.0
#include "lease/lease.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace hypermile {
namespace {

std::string_view unit(Knob knob) {
  return knob == Knob::kPowerLimit ? "W" : "MHz";
}

std::span<const Mhz> clocks_of(Knob knob, const Capabilities& can) {
  if (knob == Knob::kSmClock) return can.sm_clocks;
  if (knob == Knob::kMemoryClock) return can.memory_clocks;
  return {};
}

// The value in `range` nearest to `wanted`; where the card lists its clocks, one of those.
std::optional<double> nearest_allowed(Knob knob, double wanted, const KnobRange& range,
                                      const Capabilities& can) {
  const std::span<const Mhz> clocks = clocks_of(knob, can);
  if (clocks.empty()) return std::clamp(wanted, range.min, range.max);
  std::optional<double> best;
  for (const Mhz clock : clocks) {
    const double value = clock.value();
    if (value < range.min || value > range.max) continue;
    if (!best || std::abs(value - wanted) < std::abs(*best - wanted)) best = value;
  }
  return best;
}

Error outside(Knob knob, double wanted, const KnobRange& range) {
  return Error{ErrorCode::kPermission,
               fmt::format("{}={:g} {} is outside the range of this lease, {:g} to {:g} {}",
                           to_string(knob), wanted, unit(knob), range.min, range.max, unit(knob)),
               "choose a value in that range, or ask the administrator for a wider one"};
}

}  // namespace

std::string to_string(const Owner& owner) {
  const std::string program = owner.program.empty() ? "a client" : owner.program;
  const std::string job = owner.job.empty() ? "" : ", job " + owner.job;
  return fmt::format("{} (pid {}, uid {}{})", program, owner.pid, owner.uid, job);
}

const std::optional<KnobRange>& Bounds::range(Knob knob) const {
  if (knob == Knob::kSmClock) return sm_clock;
  if (knob == Knob::kMemoryClock) return memory_clock;
  return power_limit;
}

Result<Setting> within_bounds(const Setting& wanted, const Bounds& bounds,
                              const Capabilities& can) {
  Setting allowed = wanted;
  for (const Knob knob : kAllKnobs) {
    const std::optional<double> value = wanted.value(knob);
    if (!value) continue;
    const std::optional<KnobRange>& range = bounds.range(knob);
    if (!range) {
      return Error{ErrorCode::kPermission,
                   fmt::format("this lease may not change {}", to_string(knob)),
                   "do not set it, or ask the administrator to allow it"};
    }
    if (*value >= range->min && *value <= range->max) continue;
    if (!bounds.clamp) return outside(knob, *value, *range);
    const std::optional<double> nearest = nearest_allowed(knob, *value, *range, can);
    if (!nearest) return outside(knob, *value, *range);
    allowed.set(knob, *nearest);
  }
  return allowed;
}

std::string_view to_string(LeaseEnd end) {
  switch (end) {
    case LeaseEnd::kReleased:
      return "released";
    case LeaseEnd::kOwnerGone:
      return "owner gone";
    case LeaseEnd::kExpired:
      return "expired";
    case LeaseEnd::kUnreachable:
      return "GPU unreachable";
    case LeaseEnd::kReset:
      return "reset by the administrator";
    case LeaseEnd::kStopped:
      break;
  }
  return "stopped";
}

}  // namespace hypermile
