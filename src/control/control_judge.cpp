// SPDX-License-Identifier: Apache-2.0
//
// What comes of a Window: whether it may be believed, what the policy hears of it, and whether the
// job has changed.
#include <fmt/format.h>

#include <algorithm>

#include "control/controller.h"

namespace hypermile {
namespace {

constexpr int kRetakes = 3;                     // of a Window that circumstances spoiled
constexpr Seconds kAfterSearch = Seconds(120);  // a change so soon after a search is its own doing

}  // namespace

void Controller::judge(Phase& phase, const Window& joint, std::span<const RankWindow> ranks,
                       Instant now) {
  if (joint.usable() && joint.setting.empty()) phase.account.add_default(joint);
  if (joint.usable() && !joint.setting.empty()) phase.off_time = joint.time_per_iteration;
  if (phase.earning_back && !spoiled_) {
    phase.count(joint);
    if (joint.usable() && phase.policy->take_default(joint)) phase.step.reset();
    return;
  }
  if (spoiled_) {
    phase.count(joint);
    // Resumed with the first good Window; that one is of the default, and nobody asked for it.
    if (!joint.usable() && !joint.held_back()) return;
    spoiled_ = false;
    phase.retakes = 0;
    return;
  }
  // That a Setting is plainly too slow is known however short the Window was; of heat the policy
  // makes what can be made of it.
  const bool told = joint.usable() || joint.aborted || joint.held_back() ||
                    joint.refusal == Refusal::kClockNotReached;
  if (!told && ++phase.retakes < kRetakes) return;  // the same Step again
  if (!told && !phase.spoiled) {
    phase.spoiled = spoiled_ = true;
    set_state(ControlState::kUnsure, "nothing can be measured: " + joint.unusable,
              {{"retakes", phase.retakes * 1.0}});
    return;
  }
  std::optional<Window> seen = joint;
  if (phase.slack) {
    seen = phase.slack->observe(*phase.step, joint, ranks);
    std::vector<Setting> kept = phase.slack->kept();
    if (kept != phase.control.kept_each) phase.control.with_slack.reset();
    phase.control.kept_each = std::move(kept);
  }
  if (!seen) return;  // of a test for slack: the Step is still open
  phase.count(joint, std::ranges::any_of(ranks, [&](const RankWindow& rank) {
                return !(rank.window.setting == joint.setting);
              }));
  const bool holding = !phase.step->exploring;
  if (!holding) phase.held_windows = 0;
  if (holding && seen->usable()) ++phase.held_windows;
  phase.step.reset();
  phase.policy->observe(*seen);
  if (holding && seen->usable()) look_for_change(phase, *seen, now);
}

void Controller::look_for_change(Phase& phase, const Window& joint, Instant now) {
  if (!(phase.tested == joint.setting)) phase.reset_tests(joint.setting);
  const auto test = [&](ChangeTest& by, const char* quantity, double value) {
    const auto change = by.add(value);
    if (!change) return false;
    for (const GpuWatch* gpu : applied_->gpus()) {
      desk_.write(Drift{gpu->identity().uuid, quantity, change->before, change->after});
    }
    start_over(phase,
               fmt::format("{} changed by {:+.1f} % for good", quantity,
                           100 * (change->after / change->before - 1)),
               now, {{"before", change->before}, {"after", change->after}});
    return true;
  };
  if (phase.searched && now - *phase.searched < kAfterSearch) return;
  if (test(phase.time_test, "time_per_iteration", joint.time_per_iteration->value())) return;
  if (test(phase.power_test, "power", joint.power->value())) return;
  if (joint.sm_clock) test(phase.clock_test, "sm_clock", joint.sm_clock->value());
}

void Controller::start_over(Phase& phase, const std::string& why, Instant now, Numbers numbers) {
  ++drifts_;
  phase.policy.reset();
  phase.forecast = false;
  phase.step.reset();
  phase.features_wanted = true;
  phase.reset_tests({});
  phase.searched = now;
  meters_.clear();
  go_default(now);
  set_state(ControlState::kDrift, why, std::move(numbers));
}

}  // namespace hypermile
