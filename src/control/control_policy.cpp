// SPDX-License-Identifier: Apache-2.0
//
// What a policy is told of a phase, and the Steps it asks for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "control/controller.h"
#include "control/forecast_event.h"
#include "policy/policies.h"

namespace hypermile {
namespace {

// Less is left of the job than a search takes: nothing is gained any more.
constexpr Seconds kTooShort = Seconds(45);

// Iterations of level 0 in one that the user counts.
double micro_batches(const ProcessProgress& process, std::uint32_t number) {
  for (const PhaseProgress& phase : process.phases()) {
    if (phase.phase == number) return phase.micro_batches();
  }
  return 1;
}

}  // namespace

// The user's count is of the phase that most of the job is spent in; of others it says nothing.
std::optional<double> Controller::iterations_left(const Phase& phase) const {
  if (!options_.job_iterations) return std::nullopt;
  for (const auto& other : book_.phases()) {
    if (other.get() != &phase && other->plan && phase.plan &&
        other->iterations * other->plan->typical.value() >
            phase.iterations * phase.plan->typical.value()) {
      return std::nullopt;
    }
  }
  const double all = *options_.job_iterations * micro_batches(*phase.process, phase.number);
  // More than that: then the user counts something else, as optimizer steps that are not seen yet.
  if (phase.iterations > all) return std::nullopt;
  return all - phase.iterations;
}

PolicyContext Controller::context_of(const Phase& phase) const {
  PolicyContext context;
  context.settings = phase.settings;
  context.objective = options_.objective;
  context.steady = options_.steady;
  context.window_iterations = phase.plan->window_iterations;
  // Iterations pass unmeasured after each change of Setting until the policy has heard of it.
  context.settle_iterations = phase.plan->settle_iterations +
                              std::ceil(kLeastLate / phase.plan->typical) +
                              phase.plan->pause_every / 2;
  context.default_values = phase.watch.default_values();
  context.default_values.power_limit =
      applied_->gpus().front()->gpu().capabilities().default_power_limit;
  context.gpu = applied_->gpus().front()->identity().name;
  context.traces = true;
  context.seed = options_.seed;
  return context;
}

Result<void> Controller::make_policy(Phase& phase) {
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
  if (!phase.ledger) phase.ledger.emplace(phase.settings.size(), phase.plan->window_iterations);
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

bool Controller::take_next_step(Phase& phase) {
  tell_account(phase);
  guard_bound(phase);
  if (phase.step && phase.policy->withdrawn()) {
    phase.step.reset();
    meters_.clear();
    continued_ = false;
  }
  if (!phase.step) {
    phase.policy->account(*phase.ledger);
    phase.step = phase.policy->next();
    phase.retakes = 0;
    phase.step_begun = phase.ledger->done();
    phase.spoiled = false;
    if (phase.step->setting >= phase.settings.size()) {
      desk_.write(ErrorEvent{
          std::nullopt,
          Error{ErrorCode::kInternal, fmt::format("the policy asked for Setting {} of {}",
                                                  phase.step->setting, phase.settings.size())}});
      phase.step.reset();
      return false;
    }
    count_decision(phase, *phase.step);
  }
  // The state stays what it was said to be when the default came to be watched.
  if (watches_default(phase)) return true;
  write_decision(phase, *phase.step);
  const Step& step = *phase.step;
  const ControlState state = !step.exploring     ? ControlState::kHold
                             : step.setting == 0 ? ControlState::kBaseline
                                                 : ControlState::kSearch;
  set_state(state, step.reason, {{"confidence", step.confidence}, {"iterations", step.iterations}});
  return true;
}

void Controller::count_decision(Phase& phase, const Step& step) {
  const Setting& setting = phase.settings[step.setting];
  if (!step.exploring) {
    if (!phase.control.held && first_boundary_)
      phase.control.settled_after = now_ - *first_boundary_;
    phase.control.held = true;
    phase.control.kept = setting;
    phase.control.shares.clear();
    double most = 0;
    for (const StepShare& one : step.shares) {
      phase.control.shares.push_back({phase.settings[one.setting], one.share});
      if (one.setting == 0 || one.share <= most) continue;
      phase.control.kept = phase.settings[one.setting];
      most = one.share;
    }
    phase.control.confidence = step.confidence;
    phase.control.why_kept = step.reason;
  } else {
    ++phase.control.probes;
  }
}

// Once for each change of it.
void Controller::write_decision(Phase& phase, const Step& step) {
  const Setting& setting = phase.settings[step.setting];
  // A phase that comes back says again what it is about: the last word was another's.
  const bool same = std::exchange(decided_for_, &phase) == &phase && phase.decided == setting &&
                    phase.explored == step.exploring;
  phase.decided = setting;
  phase.explored = step.exploring;
  if (same) return;
  Numbers numbers = {{"exploring", step.exploring ? 1.0 : 0.0}};
  for (const StepShare& one : step.shares) {
    if (one.setting == step.setting && step.shares.size() > 1) numbers["share"] = one.share;
  }
  for (const GpuWatch* gpu : applied_->gpus()) {
    desk_.write(Decision{gpu->identity().uuid, options_.policy, setting, step.reason,
                         std::clamp(step.confidence, 0.0, 1.0), numbers});
  }
  write_forecast(phase, step);
}

// Where a search begins, and where another Setting is held.
void Controller::write_forecast(Phase& phase, const Step& step) {
  if (step.exploring && phase.forecast) return;
  auto forecast = forecast_of(*phase.policy, phase.settings, options_.policy, step.exploring);
  if (!forecast) return;
  phase.forecast = true;
  forecast->process = phase.process->pid();
  forecast->phase = phase.number;
  for (const GpuWatch* gpu : applied_->gpus()) {
    forecast->gpu = gpu->identity().uuid;
    desk_.write(*forecast);
  }
}

}  // namespace hypermile
