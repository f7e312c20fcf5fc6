// SPDX-License-Identifier: Apache-2.0
#include "gpu/knob_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr Mhz kClockTolerance(1);
// A limit that was printed and parsed again must still pass.
constexpr Watts kLimitTolerance(0.001);

}  // namespace

Result<Mhz> supported_clock(std::string_view what, Mhz wanted, std::span<const Mhz> supported) {
  if (supported.empty()) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("this GPU does not list the {}s it supports", what),
                 "leave this knob alone, or use a power limit"};
  }
  if (!std::isfinite(wanted.value())) {
    return Error{ErrorCode::kUsage, fmt::format("the {} must be a number", what)};
  }
  const auto distance = [wanted](Mhz clock) { return std::abs((clock - wanted).value()); };
  const auto nearest = std::min_element(supported.begin(), supported.end(),
                                        [&](Mhz a, Mhz b) { return distance(a) < distance(b); });
  if (distance(*nearest) <= kClockTolerance.value()) return *nearest;

  // Adds the neighbour on the other side of `wanted`, if there is one; the list descends.
  std::string near = fmt::format("{:g} MHz", nearest->value());
  if (*nearest > wanted && nearest + 1 != supported.end()) {
    near = fmt::format("{:g} or {}", (nearest + 1)->value(), near);
  } else if (*nearest < wanted && nearest != supported.begin()) {
    near = fmt::format("{:g} or {:g} MHz", nearest->value(), (nearest - 1)->value());
  }
  return Error{ErrorCode::kUsage,
               fmt::format("this GPU has no {} of {:g} MHz", what, wanted.value()), "use " + near};
}

Result<void> check_power_limit(Watts wanted, const std::optional<Range>& range) {
  if (!range) {
    return Error{ErrorCode::kUnsupported, "this GPU does not report which power limits it accepts",
                 "use an SM clock instead"};
  }
  if (wanted >= range->min - kLimitTolerance && wanted <= range->max + kLimitTolerance) return {};
  return Error{
      ErrorCode::kUsage,
      fmt::format("a power limit of {:g} W is outside the range of this GPU", wanted.value()),
      fmt::format("use {:g} to {:g} W", range->min.value(), range->max.value())};
}

Result<void> check_barrier(ControlBarrier barrier) {
  switch (barrier) {
    case ControlBarrier::kNone:
      return {};
    case ControlBarrier::kMigEnabled:
      return Error{ErrorCode::kUnsupported,
                   "this GPU is divided by MIG: its clocks belong to all instances",
                   "observe only, or disable MIG with 'nvidia-smi -mig 0'"};
    case ControlBarrier::kVirtualGpu:
      return Error{ErrorCode::kUnsupported, "this is a virtual GPU: its clocks belong to the host",
                   "observe only, or run hypermile on the host"};
    case ControlBarrier::kSharedByMps:
      return Error{ErrorCode::kUnsupported,
                   "this GPU is shared through MPS: a slowdown would hit every client",
                   "observe only, or stop the MPS clients"};
  }
  return {};
}

}  // namespace hypermile
