// SPDX-License-Identifier: Apache-2.0
//
// What a Session tells a Controller, kept until the next round decides.
#include <algorithm>

#include "control/controller.h"

namespace hypermile {
namespace {

// Of the latest report that was ever met, at each Boundary: what happened once is forgotten.
constexpr double kForgetLate = 0.98;

}  // namespace

Controller::Controller(ControllerParts parts, ControllerOptions options)
    : parts_(std::move(parts)), options_(std::move(options)) {}

void Controller::start(ControlDesk desk) {
  desk_ = std::move(desk);
  applied_.emplace(parts_.port, desk_);
}

void Controller::gpu_opened(GpuWatch& gpu) {
  opened_.push_back(&gpu);
}

Controller::RankState& Controller::rank_state(const ProcessProgress& process, GpuWatch& gpu) {
  const Rank rank{&process, &gpu};
  const auto found =
      std::ranges::find_if(ranks_, [&](const auto& state) { return state->rank == rank; });
  if (found != ranks_.end()) return **found;
  ranks_.push_back(std::make_unique<RankState>());
  RankState& made = *ranks_.back();
  made.rank = rank;
  made.maker = std::make_unique<WindowMaker>(
      &gpu, WindowLengths(), [this, &process, uuid = gpu.identity().uuid](const Window& window) {
        desk_.take(process, uuid, window);
      });
  return made;
}

// A job on one GPU whose batches have different shapes is counted in iterations of the usual size,
// so that windows compare equal work. Ranks are joined by their iterations, which must stay whole.
Boundary Controller::weighed(const ProcessProgress& process, const Boundary& told) {
  Boundary boundary = told;
  if (&process != lead_) return boundary;
  Phase& phase = book_.of(process, told.pattern.phase);
  phase.iterations += told.iterations + told.unseen.value_or(0);
  if (!phase.plan || ranks_.size() > 1) return boundary;
  boundary.iterations = phase.plan->sizes.weigh(told.iterations, told.blocks);
  phase.plain += told.iterations;
  phase.weighed += boundary.iterations;
  return boundary;
}

void Controller::boundary(const ProcessProgress& process, const Boundary& told, bool fresh,
                          std::span<GpuWatch* const> gpus) {
  if (told.pattern.level != 0) return;
  const Boundary boundary = weighed(process, told);
  double& counted = counted_[{&process, boundary.pattern.phase}];
  counted += boundary.iterations;
  const CountedBoundary at{boundary, counted};
  const bool measuring = !meters_.empty();
  const bool at_default = applied_->at_default() &&
                          applied_->stage() == AppliedSettings::Stage::kInForce &&
                          boundary.time >= applied_->in_force_since();
  Pause before = Pause::kNone;
  for (GpuWatch* gpu : gpus) {
    RankState& state = rank_state(process, *gpu);
    Pause pause = Pause::kNone;
    if (active_ != nullptr && active_->plan &&
        boundary.pattern == pattern_of(state.rank, *active_)) {
      pause = state.pauses.add(at, *active_->plan);
      before = pause;
    }
    for (RankMeter& meter : meters_) {
      if (meter.rank() == state.rank) meter.add(at, pause, fresh);
    }
    if (measuring) continue;
    if (at_default) {
      state.maker->add(boundary, fresh);
    } else {
      state.maker->close();
    }
  }
  if (&process != lead_) return;
  last_boundary_ = now_;
  told_late_ = std::max({kLeastLate, now_ - boundary.time, kForgetLate * told_late_});
  if (!first_boundary_) first_boundary_ = boundary.time;
  if (idle_since_ && boundary.time > *idle_since_) idle_since_.reset();
  Phase& phase = book_.of(process, boundary.pattern.phase);
  keep_account(phase, boundary, before);
  if (!phase.plan && at_default) phase.watch.add(told);
}

void Controller::progress_changed(const ProcessProgress& process, const ProgressChange& change) {
  const bool locked = change.state == ProgressState::kLocked;
  if (lead_ == nullptr && locked) lead_ = &process;
  if (&process != lead_) return;
  switch (change.state) {
    case ProgressState::kLocked:
      if (const PhaseProgress* in = process.phase_in_force()) {
        Phase& phase = book_.of(process, in->phase);
        phase.control.name = in->name;
        meet(phase, now_);
      }
      return;
    case ProgressState::kSearching:
      lose_progress(change.time);
      return;
    case ProgressState::kIdle:
      idle_since_ = change.time;
      return;
    case ProgressState::kEnded:
      // Another process of the job may go on.
      leave(now_);
      lose_progress(change.time);
      lead_ = nullptr;
      return;
  }
}

// Another phase for a moment, an evaluation between two epochs, is an interlude: the phase that is
// active stays so, and keeps its Setting. One that is known to last is entered at once.
void Controller::meet(Phase& phase, Instant now) {
  idle_since_.reset();
  last_boundary_ = now;
  if (active_ == nullptr || active_ == &phase || (phase.policy && !phase.too_brief(now))) {
    enter(phase, now);
    return;
  }
  visited_ = &phase;
  if (!lost_since_) lost_since_ = now;
}

void Controller::enter(Phase& phase, Instant now) {
  lost_since_.reset();
  visited_ = nullptr;
  if (active_ == &phase) return;
  leave(now);
  active_ = &phase;
  phase.entered = now;
  phase.accounted.reset();
}

// The phase keeps its Step: it is taken again when the phase comes back.
void Controller::leave(Instant now) {
  if (active_ == nullptr) return;
  if (!meters_.empty()) close_meters(*active_, now);
  ++active_->bursts;
  active_->in_bursts += now - active_->entered;
  active_ = nullptr;
}

void Controller::lose_progress(Instant since) {
  visited_ = nullptr;
  if (!lost_since_) lost_since_ = std::max(since, state_since_);
}

void Controller::process_settled(const ProcessProgress& process) {
  for (const auto& state : ranks_) {
    if (state->rank.process != &process) continue;
    state->maker->close();
    state->maker.reset();
  }
}

void Controller::process_forgotten(const ProcessProgress& process) {
  const auto is_its = [&](const auto& of) { return of->process == &process; };
  if (collector_ && &collector_->process() == &process) collector_.reset();
  std::erase_if(meters_, [&](const RankMeter& meter) { return is_its(&meter.rank()); });
  std::erase_if(ranks_, [&](const auto& state) { return is_its(&state->rank); });
  std::erase_if(counted_, [&](const auto& count) { return count.first.first == &process; });
  if (decided_for_ != nullptr && is_its(decided_for_)) decided_for_ = nullptr;
  book_.forget(process);
}

void Controller::reading(GpuWatch& gpu, const SamplerReading& reading) {
  applied_->add(gpu, reading);
  for (RankMeter& meter : meters_) {
    if (meter.rank().gpu == &gpu) meter.add(reading);
  }
  if (collector_ && !meters_.empty() && &collector_->gpu() == &gpu) {
    collector_->poll(reading.sample.time);
  }
  for (const auto& state : ranks_) {
    if (state->rank.gpu == &gpu && state->maker) state->maker->add(reading);
  }
  if (active_ != nullptr && !active_->plan && applied_->at_default()) {
    active_->watch.add(reading.sample);
  }
}

void Controller::seen_on(GpuWatch& gpu, std::span<const GpuProcess> seen,
                         std::span<const std::int64_t> ours) {
  for (const auto& state : ranks_) {
    if (state->rank.gpu != &gpu || !state->maker) continue;
    state->job_processes.assign(ours.begin(), ours.end());
    state->maker->set_job_processes(state->job_processes);
    state->maker->add(seen);
  }
  for (RankMeter& meter : meters_) {
    if (meter.rank().gpu == &gpu) meter.add(seen);
  }
}

}  // namespace hypermile
