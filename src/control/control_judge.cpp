// SPDX-License-Identifier: Apache-2.0
//
// What comes of a Window: whether it may be believed, what the policy hears of it, and whether the
// job has changed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "control/controller.h"

namespace hypermile {
namespace {

constexpr int kRetakes = 3;  // of a Window that circumstances spoiled
// The default of a job that has become another one: heat and slow minutes change less from one look
// to the next.
constexpr double kOtherTime = 0.08;             // in ln
constexpr double kOtherPower = 0.15;            // in ln
constexpr double kBeyondNoise = 5;              // standard deviations of one Window
constexpr int kSameJump = 2;                    // Windows that must say so
constexpr Seconds kAfterSearch = Seconds(120);  // a change so soon after a search is its own doing

}  // namespace

void Controller::judge(Phase& phase, const Window& joint, std::span<const RankWindow> ranks,
                       Instant now) {
  if (phase.earning_back && !spoiled_) {
    phase.count(joint);
    phase.ledger->add(0, joint);
    return;
  }
  if (spoiled_) {
    phase.count(joint);
    // Resumed with the first good Window; that one is of the default, and nobody asked for it.
    if (!joint.usable() && !joint.held_back()) return;
    phase.ledger->add(0, joint);
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
    why_spoiled_ = "nothing can be measured: " + joint.unusable;
    set_state(ControlState::kUnsure, why_spoiled_, {{"retakes", phase.retakes * 1.0}});
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
  if (phase.step->setting == 0 && seen->usable() && has_jumped(phase, *seen, now)) return;
  const bool holding = !phase.step->exploring;
  if (!holding) phase.held_windows = 0;
  if (holding && seen->usable()) ++phase.held_windows;
  const std::size_t setting = phase.step->setting;
  const auto expected = phase.step->expected;
  phase.step.reset();
  if (holding && seen->usable() && look_for_change(phase, setting, *seen, now)) return;
  phase.ledger->add(setting, *seen, expected);
  phase.policy->observe(*seen);
}

// Whether the default is so different from what the ledger expects that this is another job. Then
// the Window is taken once more, and if that says the same, the search begins anew.
bool Controller::has_jumped(Phase& phase, const Window& joint, Instant now) {
  const auto expected = phase.ledger->expected(0);
  if (!expected) return false;
  const double time = std::log(*joint.time_per_iteration / expected->first);
  const double power = std::log(*joint.power / expected->second);
  const JobLedger& ledger = *phase.ledger;
  const double noise = std::max(ledger.time_noise(), joint.time_error.value_or(0));
  const bool in_time = std::abs(time) > std::max(kOtherTime, kBeyondNoise * noise);
  const bool in_power =
      std::abs(power) > std::max(kOtherPower, kBeyondNoise * ledger.power_noise());
  if (!in_time && !in_power) {
    phase.jumps = 0;
    return false;
  }
  if (++phase.jumps < kSameJump) return true;
  phase.jumps = 0;
  const char* quantity = in_time ? "time_per_iteration" : "power";
  const double before = in_time ? expected->first.value() : expected->second.value();
  const double after = in_time ? joint.time_per_iteration->value() : joint.power->value();
  report_change(phase, quantity, before, after, now);
  return true;
}

void Controller::report_change(Phase& phase, const char* quantity, double before, double after,
                               Instant now) {
  for (const GpuWatch* gpu : applied_->gpus()) {
    desk_.write(Drift{gpu->identity().uuid, quantity, before, after});
  }
  start_over(phase,
             fmt::format("{} changed by {:+.1f} % for good", quantity, 100 * (after / before - 1)),
             now, {{"before", before}, {"after", after}});
}

// Whether the job is another than the one that the ledger knows. Slow changes are the ledger's own
// business; what jumps and stays is a new job.
bool Controller::look_for_change(Phase& phase, std::size_t setting, const Window& joint,
                                 Instant now) {
  if (!options_.changes) return false;
  const auto expected = phase.ledger->expected(setting);
  if (!expected || (phase.searched && now - *phase.searched < kAfterSearch)) return false;
  const auto test = [&](ChangeTest& by, const char* quantity, double value, double usual) {
    const auto change = by.add(value / usual);
    if (change) report_change(phase, quantity, usual, usual * change->after, now);
    return change.has_value();
  };
  return test(phase.time_test, "time_per_iteration", joint.time_per_iteration->value(),
              expected->first.value()) ||
         test(phase.power_test, "power", joint.power->value(), expected->second.value());
}

void Controller::start_over(Phase& phase, const std::string& why, Instant now, Numbers numbers) {
  ++drifts_;
  phase.policy.reset();
  phase.forecast = false;
  phase.step.reset();
  phase.features_wanted = true;
  phase.time_test.reset();
  phase.power_test.reset();
  phase.ledger->begin_anew();
  phase.searched = now;
  meters_.clear();
  go_default(now);
  set_state(ControlState::kDrift, why, std::move(numbers));
}

}  // namespace hypermile
