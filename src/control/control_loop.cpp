// SPDX-License-Identifier: Apache-2.0
//
// One round of the Controller: the table of its transitions, and what each asks for.
#include "control/controller.h"

#include <fmt/format.h>

#include <algorithm>

namespace hypermile {
namespace {

constexpr Seconds kRound = milliseconds(20);  // while an answer or a clock is awaited
// What must be seen of a held Setting at a time, of the Window planned.
constexpr double kHeldWindow = 1;
constexpr Seconds kShortestHeld = Seconds(2);
constexpr Seconds kLongestHeld = Seconds(30);
constexpr int kHeldClosely = 2;  // Windows, before it is looked at now and then only

}  // namespace

void Controller::set_state(ControlState state, const std::string& reason, Numbers numbers) {
  if (begun_ && state == state_ && (reason == reason_ || state == ControlState::kSearch)) {
    reason_ = reason;
    return;
  }
  StateChange change;
  change.state = to_string(state);
  if (begun_) change.previous = to_string(state_);
  change.reason = reason;
  if (active_ != nullptr) {
    change.process = active_->process->pid();
    change.phase = active_->number;
  }
  change.numbers = std::move(numbers);
  if (begun_) time_in_[state_] += now_ - state_since_;
  begun_ = true;
  state_ = state;
  state_since_ = now_;
  reason_ = reason;
  desk_.write(std::move(change));
}

Instant Controller::step(Instant now) {
  now_ = now;
  if (!begun_) set_state(ControlState::kWarmUp, "the job's iterations are not known yet");
  if (state_ == ControlState::kReleased) return now + Seconds(1);
  if (!applied_->gpus().empty()) applied_->step(now);
  note_setting(now);
  if (tracer_) tracer_->poll(now);
  drive(now);
  attend();
  const auto stage = applied_->stage();
  const bool waiting =
      stage == AppliedSettings::Stage::kAsked || stage == AppliedSettings::Stage::kSettling;
  return now + (waiting ? kRound : milliseconds(100));
}

// While something is being found out everything is watched. A Setting that is held, or a job that
// is left alone, is looked at as often as the job does not feel. Ranks are measured over the same
// stretch of time, and rounds of training and evaluation as a whole: those are always watched.
void Controller::attend() {
  const bool calm = state_ == ControlState::kHold || state_ == ControlState::kLeftAlone ||
                    state_ == ControlState::kRefused || state_ == ControlState::kReleased;
  Attention attention;
  // Before any pattern was found there is nothing to attend to.
  attention.closely = !calm && active_ != nullptr;
  if (state_ == ControlState::kHold && active_ != nullptr && active_->plan) {
    const StepPlan& plan = *active_->plan;
    attention.closely =
        ranks_.size() > 1 || plan.pause_every > 0 || active_->held_windows < kHeldClosely;
    attention.window = std::clamp(kHeldWindow * plan.window_iterations * plan.typical,
                                  kShortestHeld, kLongestHeld);
  }
  if (attention_ == attention) return;
  attention_ = attention;
  desk_.attend(attention);
}

// Every transition between states. The first rule that applies decides the round; the order
// matters, since each relies on what those before it have ruled out.
void Controller::drive(Instant now) {
  using Rule = bool (Controller::*)(Instant now);  // true: it has decided what this round does
  static constexpr Rule kRules[] = {
      // The GPUs may not be changed: refused, at the default.
      &Controller::stays_away,
      // They are asked for, refused or lost: as it was, refused or unsure, at the default.
      &Controller::waits_for_port,
      // A request can never succeed: drift, at the default.
      &Controller::drops_setting,
      // Nothing can be trusted: unsure, after six failures refused, at the default.
      &Controller::meets_trouble,
      // The job pauses: idle, and the GPUs keep what they have.
      &Controller::waits_for_job,
      // No iterations are known: warm_up, and the GPUs keep what they have.
      &Controller::waits_for_pattern,
      // The phase is new: warm_up, at the default.
      &Controller::watches_phase,
      // It comes in bursts too short to measure: left_alone, at the default.
      &Controller::passes_over_phase,
      // The GPUs are not claimed yet, or there is nothing to gain: warm_up or left_alone, at the
      // default.
      &Controller::lacks_policy,
      // Otherwise baseline, search, hold, drift or unsure, as the Step in hand says.
      &Controller::runs_phase,
  };
  if (visited_ != nullptr && now - *lost_since_ > kBriefLoss) enter(*visited_, now);
  for (const Rule rule : kRules) {
    if ((this->*rule)(now)) return;
  }
}

bool Controller::stays_away(Instant) {
  return state_ == ControlState::kRefused;
}

bool Controller::drops_setting(Instant now) {
  return active_ != nullptr && drop_refused(*active_, now);
}

bool Controller::waits_for_job(Instant now) {
  if (!idle_since_) return false;
  if (active_ != nullptr && active_->policy && active_->policy->withdrawn()) go_default(now);
  set_state(ControlState::kIdle, "the job launches nothing",
            {{"since_s", (now - *idle_since_).value()}});
  return true;
}

// A short loss keeps the Setting; at the start there is nothing to lose.
bool Controller::waits_for_pattern(Instant) {
  if (active_ != nullptr) return false;
  if (!lost_since_) set_state(ControlState::kWarmUp, "the job's iterations are not known yet");
  return true;
}

bool Controller::watches_phase(Instant now) {
  if (active_->plan) return false;
  go_default(now);
  set_state(ControlState::kWarmUp, "watching the job at its default");
  if (!active_->watch.ready()) return true;
  active_->plan = active_->watch.plan();
  return false;
}

bool Controller::passes_over_phase(Instant now) {
  const Phase& phase = *active_;
  if (!phase.too_brief(now)) return false;
  leave_alone(*active_, "this phase comes in bursts too short to measure", now,
              {{"burst_s", (phase.in_bursts / static_cast<double>(phase.bursts)).value()}});
  return true;
}

bool Controller::lacks_policy(Instant now) {
  if (active_->policy) return false;
  if (parts_.port.state() == PortState::kUnclaimed && claims_ > 0) return true;
  if (applied_->gpus().empty()) {
    if (everybody_is_here(now)) claim();
    return true;
  }
  const Result<void> made = make_policy(*active_);
  if (!made) leave_alone(*active_, made.error().message, now);
  return !made;
}

bool Controller::runs_phase(Instant now) {
  active_->control.why_left_alone.clear();
  run_step(*active_, now);
  return true;
}

void Controller::stop_measuring() {
  if (!meters_.empty() && active_ != nullptr) close_meters(*active_, now_);
  meters_.clear();
  continued_ = false;
}

void Controller::go_default(Instant now) {
  if (parts_.port.state() != PortState::kHeld) return;
  continued_ = false;
  applied_->ask(everywhere({}), now);
}

std::vector<Setting> Controller::everywhere(const Setting& setting) const {
  return std::vector<Setting>(applied_->gpus().size(), setting);
}

void Controller::leave_alone(Phase& phase, const std::string& why, Instant now, Numbers numbers) {
  phase.control.why_left_alone = why;
  stop_measuring();
  go_default(now);
  set_state(ControlState::kLeftAlone, why, std::move(numbers));
}

void Controller::finish(Instant now, const std::string& why) {
  now_ = now;
  if (state_ == ControlState::kReleased) return;
  before_release_ = state_;
  leave(now);
  meters_.clear();
  for (const auto& state : ranks_) {
    if (state->maker) state->maker->close();
  }
  const Result<void> released = parts_.port.release();
  restored_ = released.ok();
  if (!released) {
    desk_.write(ErrorEvent{std::nullopt, released.error()});
    desk_.warn(released.error().line());
  }
  // A run that was refused stays so: its reader wants to know why.
  if (state_ == ControlState::kRefused && released) return;
  set_state(ControlState::kReleased,
            released ? why : fmt::format("{}; {}", why, released.error().message));
}

ControlSummary Controller::summary() const {
  ControlSummary summary;
  summary.state = state_;
  summary.reason = reason_;
  summary.before_release = before_release_;
  for (const GpuWatch* gpu : applied_->gpus()) summary.gpus.push_back(gpu->identity().uuid);
  for (const auto& phase : book_.phases()) summary.phases.push_back(phase->control);
  summary.time_in = time_in_;
  summary.windows = windows_;
  summary.unusable = unusable_;
  summary.setting_changes = applied_->changes();
  summary.drifts = drifts_;
  summary.restored = restored_;
  return summary;
}

}  // namespace hypermile
