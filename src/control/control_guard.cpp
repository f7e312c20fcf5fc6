// SPDX-License-Identifier: Apache-2.0
//
// The promise on the whole job: keeps account of what was lost off the default, tells the policy,
// and goes back to the default where the bound comes near, until enough is earned back.
#include <fmt/format.h>

#include <algorithm>

#include "control/controller.h"

namespace hypermile {
namespace {

// Standard errors that the account is taken to be off by: where a policy plans, and where the bound
// is guarded.
constexpr double kLikely = 0.5;
constexpr double kSure = 1;
// Of what may be lost: from here on the default, until it is back below.
constexpr double kNearBound = 0.95;
constexpr double kEarnedBack = 0.9;
// A job whose length nobody told is held against what it has run, or this.
constexpr Seconds kShortestJob = Seconds(600);
constexpr std::size_t kRemembered = 64;  // changes of Setting, dark stretches
constexpr Seconds kRoundAtMost = Seconds(0.2);

}  // namespace

// Boundaries are told of late: what was in force then is looked up.
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
  if (!off_default_.empty() && off_default_.back().second == off) return;
  off_default_.emplace_back(now, off);
  if (off_default_.size() > kRemembered) off_default_.pop_front();
}

bool Controller::off_default_at(Instant time) const {
  for (auto at = off_default_.rbegin(); at != off_default_.rend(); ++at) {
    if (at->first <= time) return at->second;
  }
  return false;
}

// A pause that is not how the job runs is nobody's loss. Iterations that were not watched took as
// long as those that were measured last.
void Controller::keep_account(Phase& phase, const Boundary& boundary, Pause pause) {
  const std::optional<Instant> until = std::exchange(phase.accounted, boundary.time);
  if (!until || pause == Pause::kOdd || !off_default_at(boundary.time)) return;
  const Seconds took = boundary.time - *until;
  const bool unseen = boundary.unseen || std::ranges::any_of(dark_, [&](const auto& dark) {
                        return *until < dark.second && boundary.time > dark.first;
                      });
  if (!unseen) {
    phase.account.add_off_default(took, boundary.iterations);
  } else if (phase.off_time) {
    phase.account.add_off_default(took, took / *phase.off_time);
  }
}

// At the default, as far as is known.
Seconds Controller::whole_job(const Phase& phase, Seconds usual) const {
  if (const auto left = iterations_left(phase)) return (phase.iterations + *left) * usual;
  return std::max(phase.iterations * usual, kShortestJob);
}

// The length of the job that the guard relies on: the length that the user gave, but at most twice
// what has run. The job may be stopped earlier, and the user may count other steps than we see.
Seconds Controller::sure_job(const Phase& phase, Seconds usual) const {
  return std::min(whole_job(phase, usual), std::max(2 * phase.iterations * usual, kShortestJob));
}

void Controller::tell_account(Phase& phase) {
  const auto usual = phase.account.default_time();
  if (!options_.guard || !usual) return;
  const auto [lost, error] = phase.account.standing();
  Seconds job = whole_job(phase, *usual);
  // A policy plans ahead: as long again as it has run.
  if (!iterations_left(phase)) job = std::max(job, 2 * phase.iterations * *usual);
  phase.policy->account(
      {job / *usual, phase.iterations, std::max(0.0, (lost + kLikely * error) / *usual)});
}

void Controller::guard_bound(Phase& phase) {
  const auto bound = effective_bound(options_.objective);
  const auto usual = phase.account.default_time();
  if (!options_.guard || !bound || !usual) return;
  const auto [lost, error] = phase.account.standing();
  const Seconds job = sure_job(phase, *usual);
  const double upper = (lost + kSure * error) / job;
  const bool near = upper >= (phase.earning_back ? kEarnedBack : kNearBound) * *bound;
  if (near == phase.earning_back) return;
  phase.earning_back = near;
  meters_.clear();
  continued_ = false;
  if (!near) return;
  const std::string why = fmt::format(
      "the job has lost {:.1f} % of its time, near the bound of {:.1f} %: at the default until "
      "that is earned back",
      100 * (lost / job), 100 * *bound);
  Numbers numbers = {{"lost_s", lost.value()},
                     {"error_s", error.value()},
                     {"job_s", job.value()},
                     {"bound", *bound}};
  set_state(ControlState::kBaseline, why, numbers);
  decided_for_ = nullptr;
  numbers["exploring"] = 1;  // it is not what is kept
  for (const GpuWatch* gpu : applied_->gpus()) {
    desk_.write(Decision{gpu->identity().uuid, "guard", Setting{}, why, std::nullopt, numbers});
  }
}

}  // namespace hypermile
