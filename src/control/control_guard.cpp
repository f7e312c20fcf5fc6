// SPDX-License-Identifier: Apache-2.0
//
// The promise on the whole job: keeps account of what was lost off the default, tells the policy,
// and goes back to the default where the bound comes near, until enough is earned back.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "control/controller.h"
#include "policy/bound_guard.h"

namespace hypermile {
namespace {

constexpr std::size_t kRemembered = 64;  // changes of Setting, dark stretches
constexpr Seconds kRoundAtMost = Seconds(0.2);

}  // namespace

// Boundaries are reported late, so what was in force at their time is looked up.
void Controller::note_setting(Instant now) {
  if (lead_ != nullptr && lead_->dark()) {
    const Instant before = now - kRoundAtMost;
    if (dark_.empty() || dark_.back().second < before) dark_.emplace_back(before, now);
    dark_.back().second = now;
    if (dark_.size() > kRemembered) dark_.pop_front();
    // What is not watched on purpose is no silence of the job's.
    if (last_boundary_) last_boundary_ = now;
  }
  const auto set = [](const Setting& setting) { return !setting.empty(); };
  const bool off = !applied_->at_default() || std::ranges::any_of(applied_->asked(), set);
  std::size_t setting = 0;
  if (off && active_ != nullptr) {
    const auto& all = active_->settings;
    const auto found =
        applied_->asked().empty() ? all.end() : std::ranges::find(all, applied_->asked().front());
    const auto at = static_cast<std::size_t>(found - all.begin());
    setting = found == all.end() ? 1 : std::max<std::size_t>(1, at);
  }
  if (!in_force_.empty() && in_force_.back().second == setting) return;
  in_force_.emplace_back(now, setting);
  if (in_force_.size() > kRemembered) in_force_.pop_front();
}

std::size_t Controller::setting_at(Instant time) const {
  for (auto at = in_force_.rbegin(); at != in_force_.rend(); ++at) {
    if (at->first <= time) return at->second;
  }
  return 0;
}

// A pause that is not how the job runs is nobody's loss. Iterations that were not watched took as
// long as those that were measured at their Setting.
void Controller::keep_account(Phase& phase, const Boundary& boundary, Pause pause) {
  const std::optional<Instant> until = std::exchange(phase.accounted, boundary.time);
  if (!phase.ledger) return;
  const std::size_t setting = setting_at(boundary.time);
  if (!until || pause == Pause::kOdd || setting == 0) {
    phase.ledger->pass(false, boundary.iterations + boundary.unseen.value_or(0), Seconds(0));
    return;
  }
  const Seconds took = boundary.time - *until;
  const bool unseen = boundary.unseen || std::ranges::any_of(dark_, [&](const auto& dark) {
                        return *until < dark.second && boundary.time > dark.first;
                      });
  double iterations = boundary.iterations;
  if (unseen) {
    const auto there = phase.ledger->log_time_of(setting);
    if (!there) {
      phase.ledger->pass(false, iterations + boundary.unseen.value_or(0), Seconds(0));
      return;
    }
    iterations = took / (phase.ledger->default_time() * std::exp(*there));
  }
  phase.ledger->pass(true, iterations, took);
}

// The job's length where the user gave it; else it is taken to run as long again as it has run. The
// guard and the policy rely on no more than twice what has run: a job may be stopped early, and a
// user may count other steps than we see.
void Controller::tell_account(Phase& phase) {
  JobLedger& ledger = *phase.ledger;
  const double likely = likely_job(ledger, phase.plan->typical);
  const auto left = iterations_left(phase);
  // The ledger counts iterations of the usual size.
  const double worth = phase.plain > 0 ? phase.weighed / phase.plain : 1;
  const double job = left ? ledger.done() + *left * worth : likely;
  ledger.set_job(job, std::min(job, likely));
}

void Controller::guard_bound(Phase& phase) {
  const auto bound = effective_bound(options_.objective);
  if (!options_.guard || !bound || !phase.ledger->knows_default()) return;
  const JobLedger& ledger = *phase.ledger;
  const LostTime time = lost_time(ledger, phase.plan->typical, iterations_left(phase).has_value());
  const bool near = near_bound(time, *bound, phase.earning_back);
  if (near == phase.earning_back) return;
  if (near) give_up_look(phase, now_);
  phase.earning_back = near;
  meters_.clear();
  continued_ = false;
  if (!near) return;
  const double usual = ledger.default_time().value();
  const std::string why = fmt::format(
      "the job has lost {:.1f} % of its time, near the bound of {:.1f} %: at the default until "
      "that is earned back",
      100 * time.lost / time.job, 100 * *bound);
  Numbers numbers = {{"lost_s", time.lost * usual},
                     {"error_s", time.error * usual},
                     {"job_s", time.job * usual},
                     {"bound", *bound}};
  set_state(ControlState::kBaseline, why, numbers);
  decided_for_ = nullptr;
  numbers["exploring"] = 1;  // it is not what is kept
  for (const GpuWatch* gpu : applied_->gpus()) {
    desk_.write(Decision{gpu->identity().uuid, "guard", Setting{}, why, std::nullopt, numbers});
  }
}

}  // namespace hypermile
