// SPDX-License-Identifier: Apache-2.0
//
// Which Settings a phase is offered: what every card lists and the lease allows, less what turned
// out not to be had.
#include <fmt/format.h>

#include <algorithm>

#include "control/controller.h"
#include "gpu/setting_grid.h"

namespace hypermile {
namespace {

// A request that fails for one of these reasons fails the next time as well.
bool lasts(ErrorCode code) {
  return code == ErrorCode::kPermission || code == ErrorCode::kUnsupported ||
         code == ErrorCode::kUsage;
}

bool named(const std::vector<Setting>& settings, Knob knob) {
  return std::ranges::any_of(settings, [&](const Setting& one) { return one.has(knob); });
}

std::string_view name_of(Knob knob) {
  if (knob == Knob::kSmClock) return "SM clock";
  return knob == Knob::kMemoryClock ? "memory clock" : "power limit";
}

}  // namespace

std::vector<Setting> Controller::settings_for(const Setting& default_values) {
  std::vector<Setting> common = options_.settings;
  if (common.empty()) {
    for (GpuWatch* gpu : applied_->gpus()) {
      const Capabilities& card = gpu->gpu().capabilities();
      std::vector<Setting> grid = setting_grid(card, default_values, options_.knobs);
      if (common.empty()) {
        common = std::move(grid);
      } else {
        std::erase_if(common,
                      [&](const Setting& one) { return std::ranges::count(grid, one) == 0; });
      }
    }
  }
  std::vector<Setting> allowed = common;
  std::erase_if(allowed,
                [&](const Setting& one) { return !one.empty() && !parts_.port.allows(one); });
  for (const Knob knob : kAllKnobs) {
    if (!named(common, knob) || named(allowed, knob)) continue;
    desk_.warn(fmt::format("the {} may not be changed here and stays as it is", name_of(knob)));
  }
  return allowed;
}

void Controller::leave_out(Phase& phase, std::size_t setting) {
  phase.ledger->forget(setting);
  phase.settings.erase(phase.settings.begin() + static_cast<std::ptrdiff_t>(setting));
  for (auto& [since, at] : in_force_) {
    if (at > setting) --at;
  }
}

// The policy begins anew with what is left; it loses nothing, since the ledger keeps what is known.
void Controller::choose_anew(Phase& phase, Instant now) {
  phase.policy.reset();
  phase.step.reset();
  meters_.clear();
  go_default(now);
  set_state(ControlState::kDrift, "a Setting was not allowed as it was asked for",
            {{"settings_left", static_cast<double>(phase.settings.size())}});
}

// What the GPUs were told is not what was asked: they are not allowed as much. The Settings that
// cannot be had are no longer offered.
void Controller::drop_clamped(Phase& phase, Instant now) {
  if (phase.slack && settings_of_step(phase) != everywhere(phase.settings[phase.step->setting])) {
    phase.slack.reset();  // all are told the same from here on
    return;
  }
  const Setting refused = phase.settings[phase.step->setting];
  desk_.warn(fmt::format("{} is not allowed on this GPU and is left out", to_string(refused)));
  leave_out(phase, phase.step->setting);
  choose_anew(phase, now);
}

// A request that will never succeed is not asked again. A knob that has never worked is left out
// altogether; where all of its knobs have worked, the Setting alone is. False: the failure may
// pass, or it was the default that could not be set.
bool Controller::drop_refused(Phase& phase, Instant now) {
  if (applied_->stage() != AppliedSettings::Stage::kFailed || !phase.step ||
      !lasts(applied_->problem()->code)) {
    return false;
  }
  const Setting refused = phase.settings[phase.step->setting];
  const bool was_asked = !refused.empty() && std::ranges::count(applied_->asked(), refused) > 0;
  if (!was_asked) return false;
  const auto never_worked = [&](const Setting& setting) {
    return std::ranges::any_of(kAllKnobs, [&](Knob knob) {
      return refused.has(knob) && setting.has(knob) && !applied_->has_worked(knob);
    });
  };
  desk_.warn(fmt::format("{} cannot be set and is left out: {}", to_string(refused),
                         applied_->problem()->message));
  for (std::size_t i = phase.settings.size(); i-- > 1;) {
    if (phase.settings[i] == refused || never_worked(phase.settings[i])) leave_out(phase, i);
  }
  choose_anew(phase, now);
  return true;
}

}  // namespace hypermile
