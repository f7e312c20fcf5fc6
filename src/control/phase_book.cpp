// SPDX-License-Identifier: Apache-2.0
#include "control/phase_book.h"

#include <algorithm>

namespace hypermile {
namespace {

// Settling, a Window and hearing of its end take about this long: bursts that are shorter on
// average are never measured, and one that lasts longer than two such is no burst.
constexpr Seconds kBriefBurst = Seconds(8);

}  // namespace

bool Phase::too_brief(Instant now) const {
  if (bursts == 0) return false;
  const Seconds usual = in_bursts / static_cast<double>(bursts);
  return usual < kBriefBurst && now - entered < 2 * kBriefBurst;
}

void Phase::reset_tests(const Setting& of) {
  tested = of;
  time_test.reset();
  power_test.reset();
  clock_test.reset();
}

void Phase::count(const Window& joint) {
  control.iterations += joint.iterations;
  if (!joint.usable()) return;
  auto at = std::ranges::find(control.measured, joint.setting, &MeasuredSetting::setting);
  if (at == control.measured.end()) {
    MeasuredSetting made;
    made.setting = joint.setting;
    const bool first = joint.setting.empty();
    at = control.measured.insert(first ? control.measured.begin() : control.measured.end(),
                                 std::move(made));
  }
  at->time.add(joint.time_per_iteration->value(), joint.iterations, joint.time_error);
  at->power.add(joint.power->value(), joint.duration.value(), joint.power_error);
  if (joint.energy_per_iteration) {
    at->energy.add(joint.energy_per_iteration->value(), joint.iterations, joint.energy_error);
  }
  at->iterations += joint.iterations;
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

}  // namespace hypermile
