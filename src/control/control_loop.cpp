// SPDX-License-Identifier: Apache-2.0
//
// One round of the Controller: which state it is in, and what that asks for.
#include "control/controller.h"

#include <fmt/format.h>

#include <algorithm>

namespace hypermile {
namespace {

constexpr Seconds kRound = milliseconds(20);  // while an answer or a clock is awaited
constexpr Seconds kBriefLoss = Seconds(2);    // shorter evaluations and checkpoints are ignored
constexpr Seconds kSilence = Seconds(10);     // no Boundary, though the job was not said to pause
constexpr double kSilentIterations = 20;      // the same where iterations are long
constexpr Seconds kGather = Seconds(10);      // for the GPUs of all ranks
constexpr Seconds kFirstPause = Seconds(5);   // after a failure; doubles
constexpr int kMostFailures = 6;              // in a row, then we stay away
constexpr int kMostClaims = 4;
constexpr int kMostDoublings = 6;
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

void Controller::drive(Instant now) {
  if (state_ == ControlState::kRefused) return;
  if (!look_at_port(now)) return;
  if (visited_ != nullptr && now - *lost_since_ > kBriefLoss) enter(*visited_, now);
  if (const auto why = trouble(now)) {
    be_unsure(*why, now);
    return;
  }
  if (idle_since_) {
    if (active_ != nullptr && active_->policy && active_->policy->withdrawn()) go_default(now);
    set_state(ControlState::kIdle, "the job launches nothing",
              {{"since_s", (now - *idle_since_).value()}});
    return;
  }
  if (active_ == nullptr) {
    // A short loss keeps the Setting; at the start there is nothing to lose.
    if (!lost_since_) set_state(ControlState::kWarmUp, "the job's iterations are not known yet");
    return;
  }
  drive_phase(*active_, now);
}

// False: nothing can be done this round.
bool Controller::look_at_port(Instant now) {
  switch (parts_.port.state()) {
    case PortState::kUnclaimed:
      return true;  // nothing has been asked for yet: claimed where a policy is wanted
    case PortState::kHeld:
      if (state_ == ControlState::kUnsure && applied_->gpus().empty()) claims_ = 0;
      return true;
    case PortState::kClaiming:
      return false;
    case PortState::kRefused: {
      const auto problem = parts_.port.problem();
      stop_measuring();
      set_state(ControlState::kRefused, problem ? problem->message : "the GPUs may not be changed");
      if (problem) {
        desk_.write(ErrorEvent{std::nullopt, *problem});
        desk_.warn(problem->line());
      }
      return false;
    }
    case PortState::kLost:
      break;
  }
  const auto problem = parts_.port.problem();
  const std::string why = problem ? problem->message : "the right to change the GPUs was lost";
  if (state_ != ControlState::kUnsure || !try_again_) {
    stop_measuring();
    applied_->forget();
    if (problem) desk_.write(ErrorEvent{std::nullopt, *problem});
    set_state(ControlState::kUnsure, why, {{"attempts", claims_}});
    try_again_ = now + kFirstPause * static_cast<double>(1 << std::min(claims_, kMostDoublings));
  } else if (now >= *try_again_) {
    try_again_.reset();
    if (claims_ >= kMostClaims) {
      set_state(ControlState::kRefused, why + "; gave up", {{"attempts", claims_}});
    } else {
      claim();
    }
  }
  return false;
}

// Why nothing that is measured can be trusted, or nothing can be changed.
std::optional<std::string> Controller::trouble(Instant now) const {
  for (const GpuWatch* gpu : applied_->gpus()) {
    if (gpu->failing()) return "GPU lost: " + gpu->problem()->message;
  }
  if (lost_since_ && now - *lost_since_ > kBriefLoss) {
    return "the job's iterations are not recognised any more";
  }
  if (applied_->stage() == AppliedSettings::Stage::kFailed) {
    return "a Setting could not be applied: " + applied_->problem()->message;
  }
  if (try_again_ && now < *try_again_) return reason_;
  if (active_ == nullptr || idle_since_ || !last_boundary_) return std::nullopt;
  const Seconds typical = active_->plan ? active_->plan->typical : Seconds(0);
  const Seconds longest = std::max(kSilence, kSilentIterations * typical);
  if (now - *last_boundary_ > longest) return "no iteration is told of any more";
  return std::nullopt;
}

void Controller::be_unsure(const std::string& why, Instant now) {
  const bool failed = applied_->stage() == AppliedSettings::Stage::kFailed;
  if (failed) {
    ++failures_;
    try_again_ =
        now + kFirstPause * static_cast<double>(1 << std::min(failures_ - 1, kMostDoublings));
  }
  if (failed && failures_ >= kMostFailures) {
    stop_measuring();
    go_default(now);
    set_state(ControlState::kRefused, why + "; gave up", {{"failures", failures_}});
    desk_.warn(why + "; it stays at its default");
    return;
  }
  if (active_ != nullptr) give_up_look(*active_, now);
  if (state_ != ControlState::kUnsure || failed) stop_measuring();
  go_default(now);
  set_state(ControlState::kUnsure, why, {{"failures", failures_}});
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

// All GPUs that are open belong to a rank that is measured, or they have had their time.
bool Controller::everybody_is_here(Instant now) const {
  if (first_boundary_ && now - *first_boundary_ > kGather) return true;
  return std::ranges::all_of(opened_, [&](const GpuWatch* gpu) {
    return std::ranges::any_of(ranks_, [&](const auto& state) { return state->rank.gpu == gpu; });
  });
}

void Controller::claim() {
  std::vector<GpuWatch*> gpus;
  std::vector<GpuUuid> uuids;
  for (GpuWatch* gpu : opened_) {
    const bool ranked =
        std::ranges::any_of(ranks_, [&](const auto& state) { return state->rank.gpu == gpu; });
    if (!ranked || std::ranges::count(uuids, gpu->identity().uuid) > 0) continue;
    gpus.push_back(gpu);
    uuids.push_back(gpu->identity().uuid);
  }
  if (gpus.empty()) return;
  ++claims_;
  applied_->set_gpus(std::move(gpus));
  restored_ = false;
  parts_.port.claim(uuids);
  set_state(ControlState::kWarmUp, "asking for the GPUs",
            {{"gpus", static_cast<double>(uuids.size())}});
}

void Controller::leave_alone(Phase& phase, const std::string& why, Instant now, Numbers numbers) {
  phase.control.why_left_alone = why;
  stop_measuring();
  go_default(now);
  set_state(ControlState::kLeftAlone, why, std::move(numbers));
}

void Controller::drive_phase(Phase& phase, Instant now) {
  if (!phase.plan) {
    go_default(now);
    set_state(ControlState::kWarmUp, "watching the job at its default");
    if (!phase.watch.ready()) return;
    phase.plan = phase.watch.plan();
  }
  if (phase.too_brief(now)) {
    leave_alone(phase, "this phase comes in bursts too short to measure", now,
                {{"burst_s", (phase.in_bursts / static_cast<double>(phase.bursts)).value()}});
    return;
  }
  if (!phase.policy) {
    if (parts_.port.state() == PortState::kUnclaimed && claims_ > 0) return;
    if (applied_->gpus().empty()) {
      if (everybody_is_here(now)) claim();
      return;
    }
    if (const Result<void> made = make_policy(phase); !made) {
      leave_alone(phase, made.error().message, now);
      return;
    }
  }
  phase.control.why_left_alone.clear();
  run_step(phase, now);
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
