// SPDX-License-Identifier: Apache-2.0
#include "control/phase_book.h"

#include <algorithm>

namespace hypermile {
namespace {

// Settling, a Window and hearing of its end take about this long: bursts that are shorter on
// average are never measured, and one that lasts longer than two such is no burst.
constexpr Seconds kBriefBurst = Seconds(8);

void add_to(MeasuredSetting& measured, const Window& window) {
  measured.time.add(window.time_per_iteration->value(), window.iterations, window.time_error);
  measured.power.add(window.power->value(), window.duration.value(), window.power_error);
  if (window.energy_per_iteration) {
    measured.energy.add(window.energy_per_iteration->value(), window.iterations,
                        window.energy_error);
  }
  measured.iterations += window.iterations;
}

}  // namespace

bool Phase::too_brief(Instant now) const {
  if (bursts == 0) return false;
  const Seconds usual = in_bursts / static_cast<double>(bursts);
  return usual < kBriefBurst && now - entered < 2 * kBriefBurst;
}

void Phase::count(const Window& joint, bool lowered) {
  control.iterations += joint.iterations;
  if (!joint.usable()) return;
  if (lowered) {
    if (!control.with_slack) control.with_slack.emplace();
    control.with_slack->setting = joint.setting;
    add_to(*control.with_slack, joint);
    return;
  }
  auto at = std::ranges::find(control.measured, joint.setting, &MeasuredSetting::setting);
  if (at == control.measured.end()) {
    MeasuredSetting made;
    made.setting = joint.setting;
    const bool first = joint.setting.empty();
    at = control.measured.insert(first ? control.measured.begin() : control.measured.end(),
                                 std::move(made));
  }
  add_to(*at, joint);
}

Phase& PhaseBook::of(const ProcessProgress& process, std::uint32_t number) {
  const auto found = std::ranges::find_if(phases_, [&](const auto& phase) {
    return phase->process == &process && phase->number == number;
  });
  if (found != phases_.end()) return **found;
  phases_.push_back(std::make_unique<Phase>());
  Phase& made = *phases_.back();
  made.process = &process;
  made.number = number;
  made.control.process = process.pid();
  made.control.phase = number;
  return made;
}

void PhaseBook::forget(const ProcessProgress& process) {
  std::erase_if(phases_, [&](const auto& phase) { return phase->process == &process; });
}

}  // namespace hypermile
