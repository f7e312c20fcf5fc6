// SPDX-License-Identifier: Apache-2.0
//
// What stands between a Controller and its GPUs: asking for them, losing them, and everything that
// makes what is measured worthless. All of it leads to the default.
#include <algorithm>

#include "control/controller.h"

namespace hypermile {
namespace {

constexpr Seconds kSilence = Seconds(10);    // no Boundary, though the job was not said to pause
constexpr double kSilentIterations = 20;     // the same where iterations are long
constexpr Seconds kGather = Seconds(10);     // for the GPUs of all ranks
constexpr Seconds kFirstPause = Seconds(5);  // after a failure; doubles
constexpr int kMostFailures = 6;             // in a row, then we stay away
constexpr int kMostClaims = 4;
constexpr int kMostDoublings = 6;

}  // namespace

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

bool Controller::waits_for_port(Instant now) {
  switch (parts_.port.state()) {
    case PortState::kUnclaimed:
      return false;  // nothing has been asked for yet: claimed where a policy is wanted
    case PortState::kHeld:
      if (state_ == ControlState::kUnsure && applied_->gpus().empty()) claims_ = 0;
      return false;
    case PortState::kClaiming:
      return true;
    case PortState::kRefused: {
      const auto problem = parts_.port.problem();
      stop_measuring();
      set_state(ControlState::kRefused, problem ? problem->message : "the GPUs may not be changed");
      if (problem) {
        desk_.write(ErrorEvent{std::nullopt, *problem});
        desk_.warn(problem->line());
      }
      return true;
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
  return true;
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

bool Controller::meets_trouble(Instant now) {
  const auto why = trouble(now);
  if (why) be_unsure(*why, now);
  return why.has_value();
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

}  // namespace hypermile
