// SPDX-License-Identifier: Apache-2.0
//
// How the Step in hand is run and judged: what a policy is told, which Setting the GPUs get, the
// Windows that come of it, and whether they may be believed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "control/control_loop.h"
#include "control/joint_window.h"
#include "gpu/setting_grid.h"
#include "measure/window_refusal.h"
#include "policy/policies.h"

namespace hypermile {
namespace {

// Until a Boundary is told of and the policy has heard (ProgressDelays): iterations that pass
// unmeasured after each change of Setting, beside those of settling.
constexpr Seconds kTold = Seconds(1.5);
// A job whose length nobody told is taken to last at least this long.
constexpr Seconds kLeastJob = Seconds(600);
// Less is left of the job than a search takes: nothing is gained any more.
constexpr Seconds kTooShort = Seconds(45);
constexpr int kRetakes = 3;                     // of a Window that circumstances spoiled
constexpr Seconds kAfterSearch = Seconds(120);  // a change so soon after a search is its own doing

// Iterations of level 0 in one that the user counts.
double micro_batches(const ProcessProgress& process, std::uint32_t number) {
  for (const PhaseProgress& phase : process.phases()) {
    if (phase.phase != number) continue;
    for (const PhaseProgress::Level& level : phase.levels) {
      if (level.optimizer) return level.outer.inner;
    }
  }
  return 1;
}

}  // namespace

// The user's count is of the phase that most of the job is spent in; of others it says nothing.
std::optional<double> Controller::Core::iterations_left(const Phase& phase) const {
  if (!options_.job_iterations) return std::nullopt;
  for (const auto& other : book_.phases()) {
    if (other.get() != &phase && other->plan && phase.plan &&
        other->iterations * other->plan->typical.value() >
            phase.iterations * phase.plan->typical.value()) {
      return std::nullopt;
    }
  }
  const double all = *options_.job_iterations * micro_batches(*phase.process, phase.number);
  return std::max(0.0, all - phase.iterations);
}

std::vector<Setting> Controller::Core::settings_for(const Setting& default_values) const {
  if (!options_.settings.empty()) return options_.settings;
  std::vector<Setting> common;
  for (GpuWatch* gpu : applied_->gpus()) {
    const Capabilities& card = gpu->gpu().capabilities();
    std::vector<Setting> grid = setting_grid(card, default_values, options_.knobs);
    if (gpu == applied_->gpus().front()) {
      common = std::move(grid);
    } else {
      std::erase_if(common, [&](const Setting& one) { return std::ranges::count(grid, one) == 0; });
    }
  }
  return common;
}

PolicyContext Controller::Core::context_of(const Phase& phase) const {
  PolicyContext context;
  context.settings = phase.settings;
  context.objective = options_.objective;
  context.job_iterations = iterations_left(phase);
  context.least_job_iterations = kLeastJob / phase.plan->typical;
  context.window_iterations = phase.plan->window_iterations;
  context.settle_iterations =
      phase.plan->settle_iterations + std::ceil(kTold / phase.plan->typical);
  context.default_values = phase.watch.default_values();
  context.default_values.power_limit =
      applied_->gpus().front()->gpu().capabilities().default_power_limit;
  context.seed = options_.seed;
  return context;
}

Result<void> Controller::Core::make_policy(Phase& phase) {
  if (const auto left = iterations_left(phase)) {
    const Seconds remaining = *left * phase.plan->typical;
    if (remaining < kTooShort) {
      return Error{ErrorCode::kNotReady, fmt::format("only {:.0f} s of the job are left, too short "
                                                     "to gain anything",
                                                     remaining.value())};
    }
  }
  Setting defaults = phase.watch.default_values();
  defaults.power_limit = applied_->gpus().front()->gpu().capabilities().default_power_limit;
  if (phase.settings.empty()) phase.settings = settings_for(defaults);
  PhaseFacts facts{phase.process, phase.number, {}, phase.plan->typical};
  for (const GpuWatch* gpu : applied_->gpus()) facts.gpus.push_back(gpu);
  PolicyContext context = context_of(phase);
  if (parts_.predict) context.predict = parts_.predict(facts, context);
  ASSIGN_OR_RETURN(phase.policy, parts_.make_policy
                                     ? parts_.make_policy(facts, context)
                                     : hypermile::make_policy(options_.policy, context));
  phase.control.policy = options_.policy;
  phase.slack.reset();
  std::vector<GpuUuid> gpus;
  for (const GpuWatch* gpu : applied_->gpus()) gpus.push_back(gpu->identity().uuid);
  if (options_.slack && gpus.size() > 1) phase.slack.emplace(context, std::move(gpus));
  return {};
}

bool Controller::Core::take_next_step(Phase& phase) {
  if (!phase.step) {
    phase.step = phase.policy->next();
    phase.retakes = 0;
    phase.spoiled = false;
    if (phase.step->setting >= phase.settings.size()) {
      desk_->write(ErrorEvent{
          std::nullopt,
          Error{ErrorCode::kInternal, fmt::format("the policy asked for Setting {} of {}",
                                                  phase.step->setting, phase.settings.size())}});
      phase.step.reset();
      return false;
    }
    write_decision(phase, *phase.step);
  }
  const Step& step = *phase.step;
  const ControlState state = !step.exploring     ? ControlState::kHold
                             : step.setting == 0 ? ControlState::kBaseline
                                                 : ControlState::kSearch;
  set_state(state, step.reason, {{"confidence", step.confidence}, {"iterations", step.iterations}});
  return true;
}

void Controller::Core::write_decision(Phase& phase, const Step& step) {
  const Setting& setting = phase.settings[step.setting];
  if (!step.exploring) {
    if (!phase.control.held && first_boundary_)
      phase.control.settled_after = now_ - *first_boundary_;
    phase.control.held = true;
    phase.control.kept = setting;
    phase.control.confidence = step.confidence;
  } else {
    ++phase.control.probes;
  }
  const bool same = phase.decided == setting && phase.explored == step.exploring;
  phase.decided = setting;
  phase.explored = step.exploring;
  if (same) return;
  for (const GpuWatch* gpu : applied_->gpus()) {
    desk_->write(Decision{gpu->identity().uuid,
                          options_.policy,
                          setting,
                          step.reason,
                          std::clamp(step.confidence, 0.0, 1.0),
                          {{"exploring", step.exploring ? 1.0 : 0.0}}});
  }
}

// What each GPU is told in the Step in hand: the same, but for those that wait for the others.
std::vector<Setting> Controller::Core::settings_of_step(Phase& phase) {
  const Setting& joint = phase.settings[phase.step->setting];
  if (!phase.slack) return everywhere(joint);
  SlackKeeper::Plan plan = phase.slack->plan(*phase.step);
  if (plan.settings == applied_->asked() || plan.reason.empty()) return plan.settings;
  for (std::size_t i = 0; i < plan.settings.size(); ++i) {
    if (plan.settings[i] == applied_->asked()[i]) continue;
    desk_->write(Decision{applied_->gpus()[i]->identity().uuid,
                          "slack",
                          plan.settings[i],
                          plan.reason,
                          std::nullopt,
                          {{"exploring", 1.0}}});
  }
  return plan.settings;
}

void Controller::Core::run_step(Phase& phase, Instant now) {
  if (!prepare_step(phase, now)) return;
  const bool slow = std::ranges::any_of(meters_, &RankMeter::too_slow);
  if (meters_.empty() || !(slow || std::ranges::all_of(meters_, &RankMeter::done))) return;
  close_meters(phase, now);
  // At once: the Boundaries of the next round belong to the next Window.
  if (phase.policy) prepare_step(phase, now);
}

// Whether the Step in hand is being measured.
bool Controller::Core::prepare_step(Phase& phase, Instant now) {
  if (!take_next_step(phase)) {
    phase.policy.reset();
    leave_alone(phase, "the policy failed", now);
    return false;
  }
  // Where circumstances spoil every Window the default is watched until one is good.
  const std::vector<Setting> wanted = spoiled_ ? everywhere({}) : settings_of_step(phase);
  if (wanted != applied_->asked()) {
    meters_.clear();
    continued_ = false;
    applied_->ask(wanted, now);
  }
  if (spoiled_) set_state(ControlState::kUnsure, reason_);
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

// What the GPUs were told is not what was asked: they are not allowed as much. The Settings that
// cannot be had are no longer offered.
void Controller::Core::drop_clamped(Phase& phase, Instant now) {
  if (phase.slack && settings_of_step(phase) != everywhere(phase.settings[phase.step->setting])) {
    phase.slack.reset();  // all are told the same from here on
    return;
  }
  const Setting refused = phase.settings[phase.step->setting];
  desk_->warn(fmt::format("{} is not allowed on this GPU and is left out", to_string(refused)));
  std::erase(phase.settings, refused);
  start_over(phase, "a Setting was not allowed as it was asked for", now,
             {{"settings_left", static_cast<double>(phase.settings.size())}});
}

// Every process numbers its phases as it meets them; what another one does meanwhile is its part of
// this phase.
PatternId Controller::Core::pattern_of(const Rank& rank, const Phase& phase) {
  const PhaseProgress* in = rank.process->phase_in_force();
  return rank.process == phase.process || in == nullptr ? phase.pattern() : PatternId{in->phase, 0};
}

void Controller::Core::open_meters(Phase& phase, Instant) {
  open_collector(phase);
  const Step& step = *phase.step;
  const double iterations = phase.slack ? phase.slack->plan(step).iterations : step.iterations;
  for (const auto& state : ranks_) {
    const auto gpu = std::ranges::find(applied_->gpus(), state->rank.gpu);
    if (gpu == applied_->gpus().end() || state->rank.process->over()) continue;
    state->maker->close();
    MeterTerms terms;
    terms.setting = applied_->told()[static_cast<std::size_t>(gpu - applied_->gpus().begin())];
    terms.since = applied_->in_force_since();
    terms.pattern = pattern_of(state->rank, phase);
    terms.iterations = std::isfinite(iterations) ? std::max(1.0, iterations) : 1;
    terms.abort_above = spoiled_ ? std::nullopt : step.abort_above;
    terms.abort_after = step.abort_after;
    terms.plan = *phase.plan;
    terms.job_processes = state->job_processes;
    terms.last_pause = state->last_pause;
    meters_.emplace_back(state->rank, std::move(terms), continued_ ? state->carried : std::nullopt);
  }
}

// Also before its time: a Window that has enough counts, less is no Window.
void Controller::Core::close_meters(Phase& phase, Instant now) {
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
      state->last_pause = meter.last_pause();
      continued_ = continued_ && state->carried.has_value();
    }
    if (!enough) continue;
    windows.push_back({meter.rank().gpu->identity().uuid, meter.close()});
    desk_->take(*meter.rank().process, windows.back().gpu, windows.back().window);
  }
  if (windows.empty()) return;
  const Setting asked = spoiled_ ? Setting() : phase.settings[phase.step->setting];
  Window joint = join_windows(asked, windows);
  collect_features(phase, joint);
  ++windows_;
  unusable_ += !joint.usable();
  judge(phase, joint, windows, now);
}

void Controller::Core::judge(Phase& phase, const Window& joint, std::span<const RankWindow> ranks,
                             Instant now) {
  if (spoiled_) {
    phase.count(joint);
    // Resumed with the first good Window; that one is of the default, and nobody asked for it.
    if (!joint.usable() && !joint.held_back) return;
    spoiled_ = false;
    phase.retakes = 0;
    return;
  }
  // That a Setting is plainly too slow is known however short the Window was; of heat the policy
  // makes what can be made of it.
  const bool told =
      joint.usable() || joint.aborted || joint.held_back || setting_is_to_blame(joint.unusable);
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
  phase.step.reset();
  phase.policy->observe(*seen);
  if (holding && seen->usable()) look_for_change(phase, *seen, now);
}

void Controller::Core::look_for_change(Phase& phase, const Window& joint, Instant now) {
  if (!(phase.tested == joint.setting)) phase.reset_tests(joint.setting);
  const auto test = [&](ChangeTest& by, const char* quantity, double value) {
    const auto change = by.add(value);
    if (!change) return false;
    for (const GpuWatch* gpu : applied_->gpus()) {
      desk_->write(Drift{gpu->identity().uuid, quantity, change->before, change->after});
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

void Controller::Core::start_over(Phase& phase, const std::string& why, Instant now,
                                  Numbers numbers) {
  ++drifts_;
  phase.policy.reset();
  phase.step.reset();
  phase.features_wanted = true;
  phase.reset_tests({});
  phase.searched = now;
  meters_.clear();
  go_default(now);
  set_state(ControlState::kDrift, why, std::move(numbers));
}

}  // namespace hypermile
