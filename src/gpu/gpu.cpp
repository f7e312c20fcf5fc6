// SPDX-License-Identifier: Apache-2.0
#include "gpu/gpu.h"

#include <string_view>

namespace hypermile {
namespace {

struct ReasonName {
  std::uint64_t bit;
  std::string_view name;
};
constexpr ReasonName kReasonNames[] = {
    {EventReasons::kIdle, "idle"},
    {EventReasons::kRequestedClocks, "requested clocks"},
    {EventReasons::kSoftwarePowerCap, "power cap"},
    {EventReasons::kHardwareSlowdown, "hardware slowdown"},
    {EventReasons::kSyncBoost, "sync boost"},
    {EventReasons::kSoftwareThermal, "thermal"},
    {EventReasons::kHardwareThermal, "hardware thermal"},
    {EventReasons::kPowerBrake, "power brake"},
    {EventReasons::kDisplayClocks, "display clocks"},
};

}  // namespace

std::string to_string(EventReasons reasons) {
  std::string out;
  for (const ReasonName& reason : kReasonNames) {
    if ((reasons.bits & reason.bit) == 0) continue;
    if (!out.empty()) out += ", ";
    out += reason.name;
  }
  return out.empty() ? "none" : out;
}

Result<void> all_applied(const ApplyOutcome& outcome) {
  for (const KnobOutcome& item : outcome) {
    if (!item.result) return item.result.error().in(to_string(item.knob));
  }
  return {};
}

}  // namespace hypermile
