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

PolledRounds Gpu::poll(const SensorWish& wish) {
  if (wish.empty()) return {};
  return {true, read_round(*this, wish)};
}

SensorRound read_round(Gpu& gpu, const SensorWish& wish) {
  SensorRound round{wish, gpu.read(wish.sensors), std::vector<TimedPower>{}};
  // If the sensors cannot be read, the power samples are not tried.
  if (wish.history_after && round.sample) round.history = gpu.power_history(*wish.history_after);
  return round;
}

}  // namespace hypermile
