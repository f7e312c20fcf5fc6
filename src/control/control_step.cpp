// SPDX-License-Identifier: Apache-2.0
//
// How the Step in hand is run: which Setting the GPUs get, and the Windows that come of it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "control/controller.h"
#include "control/joint_window.h"

namespace hypermile {
namespace {

// Of the iterations that a Setting is to be held for, passed without a Window.
constexpr double kHeldAtMost = 4;

}  // namespace

// What each GPU is told in the Step in hand: the same, but for those that wait for the others.
std::vector<Setting> Controller::settings_of_step(Phase& phase) {
  const Setting& joint = phase.settings[phase.step->setting];
  if (!phase.slack) return everywhere(joint);
  SlackKeeper::Plan plan = phase.slack->plan(*phase.step);
  if (plan.settings == applied_->asked() || plan.reason.empty()) return plan.settings;
  for (std::size_t i = 0; i < plan.settings.size(); ++i) {
    if (plan.settings[i] == applied_->asked()[i]) continue;
    desk_.write(Decision{applied_->gpus()[i]->identity().uuid,
                         "slack",
                         plan.settings[i],
                         plan.reason,
                         std::nullopt,
                         {{"exploring", 1.0}}});
  }
  return plan.settings;
}

// A Setting that is held is one side of a mix: where no Window of it comes about, because the job
// is hardly watched or its pattern is lost now and then, the account must not tip over meanwhile.
bool Controller::held_too_long(const Phase& phase) const {
  if (!phase.step || phase.step->exploring || watches_default(phase)) return false;
  if (phase.slack) return false;  // several ranks are always watched closely
  return phase.ledger->done() - phase.step_begun > kHeldAtMost * phase.step->iterations;
}

void Controller::run_step(Phase& phase, Instant now) {
  if (!prepare_step(phase, now)) return;
  const auto overdue = [&](const RankMeter& meter) { return meter.overdue(now, told_late_); };
  // While the job visits another phase, this one makes no iterations at any Setting.
  if (visited_ == nullptr && std::ranges::any_of(meters_, overdue)) {
    give_up_look(phase, now);
    return;
  }
  if (held_too_long(phase)) {
    close_meters(phase, now);
    phase.step.reset();
    if (phase.policy) prepare_step(phase, now);
    return;
  }
  const bool slow = std::ranges::any_of(meters_, &RankMeter::too_slow);
  if (meters_.empty() || !(slow || std::ranges::all_of(meters_, &RankMeter::done))) return;
  close_meters(phase, now);
  // At once: the Boundaries of the next round belong to the next Window.
  if (phase.policy) prepare_step(phase, now);
}

// Whether the Step in hand is being measured.
bool Controller::prepare_step(Phase& phase, Instant now) {
  if (!take_next_step(phase)) {
    phase.policy.reset();
    leave_alone(phase, "the policy failed", now);
    return false;
  }
  // Where circumstances spoil every Window the default is watched until one is good, and where too
  // much was lost until it is earned back.
  const std::vector<Setting> wanted =
      watches_default(phase) ? everywhere({}) : settings_of_step(phase);
  if (wanted != applied_->asked()) {
    meters_.clear();
    tracer_.reset();
    continued_ = false;
    applied_->ask(wanted, now);
  }
  if (spoiled_) set_state(ControlState::kUnsure, why_spoiled_);
  if (applied_->stage() != AppliedSettings::Stage::kInForce) return false;
  failures_ = 0;
  try_again_.reset();
  if (applied_->told() != applied_->asked()) {
    drop_clamped(phase, now);
    return false;
  }
  if (meters_.empty()) open_meters(phase, now);
  return true;
}

// Every process numbers its phases as it meets them; what another one does meanwhile is its part of
// this phase.
PatternId Controller::pattern_of(const Rank& rank, const Phase& phase) {
  const PhaseProgress* in = rank.process->phase_in_force();
  return rank.process == phase.process || in == nullptr ? phase.pattern() : PatternId{in->phase, 0};
}

void Controller::open_meters(Phase& phase, Instant now) {
  open_collector(phase);
  const Step& step = *phase.step;
  const bool usual = watches_default(phase);
  if (step.trace_for && !tracer_) tracer_.emplace(*applied_->gpus().front());
  const double iterations = usual            ? phase.plan->window_iterations
                            : step.trace_for ? std::ceil(*step.trace_for / phase.plan->typical)
                            : phase.slack    ? phase.slack->plan(step).iterations
                                             : step.iterations;
  for (const auto& state : ranks_) {
    const auto gpu = std::ranges::find(applied_->gpus(), state->rank.gpu);
    if (gpu == applied_->gpus().end() || state->rank.process->over()) continue;
    state->maker->close();
    MeterTerms terms;
    terms.setting = applied_->told()[static_cast<std::size_t>(gpu - applied_->gpus().begin())];
    const auto carried = continued_ ? state->carried : std::nullopt;
    terms.since = applied_->in_force_since() + step.settle;
    terms.begun = std::max(terms.since, carried ? carried->boundary.time : now - told_late_);
    terms.pattern = pattern_of(state->rank, phase);
    terms.iterations = std::isfinite(iterations) ? std::max(1.0, iterations) : 1;
    if (!usual) terms.step = step;
    terms.plan = *phase.plan;
    terms.job_processes = state->job_processes;
    meters_.emplace_back(state->rank, std::move(terms), carried);
  }
}

// A look that cannot go on: it takes too long, or the job has lost too much, or its iterations are
// not recognised at this Setting. The policy hears of it, or it would look there again.
void Controller::give_up_look(Phase& phase, Instant now) {
  const bool looks = phase.step && phase.step->exploring && phase.step->setting != 0;
  if (!looks || meters_.empty() || watches_default(phase)) return;
  std::vector<RankWindow> windows;
  for (const RankMeter& meter : std::exchange(meters_, {})) {
    windows.push_back({meter.rank().gpu->identity().uuid, meter.interrupted(now, told_late_)});
  }
  const std::size_t setting = phase.step->setting;
  const auto expected = phase.step->expected;
  const Window joint = join_windows(phase.settings[setting], windows);
  continued_ = false;
  phase.step.reset();
  phase.ledger->add(setting, joint, expected);
  phase.policy->observe(joint);
}

// Also before its time: a Window that has enough counts, less is no Window.
void Controller::close_meters(Phase& phase, Instant now) {
  std::vector<RankMeter> meters = std::exchange(meters_, {});
  const bool enough =
      std::ranges::all_of(
          meters, [](const RankMeter& meter) { return meter.done() || meter.has_enough(); }) ||
      std::ranges::any_of(meters, &RankMeter::too_slow);
  continued_ = true;
  std::vector<RankWindow> windows;
  for (const RankMeter& meter : meters) {
    for (const auto& state : ranks_) {
      if (!(state->rank == meter.rank())) continue;
      state->carried = meter.end();
      continued_ = continued_ && state->carried.has_value();
    }
    if (!enough) continue;
    windows.push_back({meter.rank().gpu->identity().uuid, meter.close()});
    desk_.take(*meter.rank().process, windows.back().gpu, windows.back().window);
  }
  if (windows.empty()) return;
  const Setting asked = watches_default(phase) ? Setting() : phase.settings[phase.step->setting];
  Window joint = join_windows(asked, windows);
  collect_features(phase, joint);
  if (tracer_) joint.trace = tracer_->trace();
  ++windows_;
  unusable_ += !joint.usable();
  judge(phase, joint, windows, now);
}

}  // namespace hypermile
