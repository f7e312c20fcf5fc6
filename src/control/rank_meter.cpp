// SPDX-License-Identifier: Apache-2.0
#include "control/rank_meter.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hypermile {
namespace {

constexpr double kEnough = 0.25;      // of the iterations asked for
constexpr double kMostPlanned = 0.8;  // of those planned
constexpr int kRestarts = 2;
// Where Windows run from pause to pause.
constexpr double kNearly = 0.85;        // of the iterations asked for, at a pause
constexpr double kJustBehind = 0.05;    // of what lies between two pauses
constexpr double kPausePatience = 1.5;  // for a pause, in what usually lies between two
// What WindowBuilder asks of a Window, so that one that is cut short for being too slow is usable.
constexpr Seconds kShortest = Seconds(0.6);
constexpr int kFewestGpuTimes = 6;
constexpr int kFewestHostTimes = 25;
constexpr Seconds kLongEnough = Seconds(3);  // however few there are
// A look is given up after so many times what all its iterations take at the slowest pace allowed.
constexpr double kOverdue = 1.5;
constexpr Seconds kAxesApart = Seconds(10);  // no host runs further ahead

}  // namespace

RankMeter::RankMeter(Rank rank, MeterTerms terms, const std::optional<CountedBoundary>& first)
    : rank_(rank), terms_(std::move(terms)) {
  if (first) {
    begin(*first);
  } else {
    rank_.gpu->want_energy_counter_at(terms_.since);
  }
}

void RankMeter::add(CountedBoundary at, Pause pause, bool fresh) {
  at.behind_pause = pause == Pause::kUsual;
  const Boundary& boundary = at.boundary;
  if (cut_ || boundary.pattern != terms_.pattern || boundary.time < terms_.since) return;
  // The Setting does not answer for what the job did beside this phase, an evaluation for instance.
  if (pause == Pause::kOdd) {
    terms_.begun = terms_.begun + (boundary.time - std::max(passed_at_, terms_.begun));
  }
  passed_ += boundary.iterations + boundary.unseen.value_or(0);
  passed_at_ = boundary.time;
  // One that has all it wanted goes on until it is closed: the next begins where it ends, and no
  // iteration may be lost between the two.
  if (!builder_) {
    if (may_begin(at, pause)) begin(at);
  } else if (boundary.unseen || pause == Pause::kOdd || (fresh && on_another_axis(boundary))) {
    // What was not watched ends a Window whatever it has; it is no fault of the job's.
    const bool patient = boundary.unseen || ++restarts_ <= kRestarts;
    cut_ = done() || has_enough() || (!patient && iterations_ > 0);
    done_ = done_ || cut_;
    if (cut_) return;
    builder_.reset();
    if (may_begin(at, pause)) begin(at);
  } else {
    extend(at);
  }
}

// An evaluation after every so many iterations is part of what they cost: a Window holds whole
// rounds of both, else it would depend on how many evaluations happen to fall into it.
bool RankMeter::may_begin(const CountedBoundary& at, Pause pause) {
  if (terms_.plan.pause_every <= 0 || pause != Pause::kNone) return true;
  waited_ += at.boundary.iterations;
  return waited_ > kPausePatience * terms_.plan.pause_every;
}

// GPU times may count from elsewhere where a pattern was found anew: then they run away from the
// host's.
bool RankMeter::on_another_axis(const Boundary& boundary) const {
  if (!boundary.gpu_time || !last_timed_) return false;
  const Seconds gpu = *boundary.gpu_time - *last_timed_->boundary.gpu_time;
  const Seconds host = boundary.time - last_timed_->boundary.time;
  return std::abs((gpu - host).value()) > kAxesApart.value();
}

void RankMeter::begin(const CountedBoundary& at) {
  first_ = last_ = at;
  first_timed_.reset();
  longest_ = {};
  if (at.boundary.gpu_time) first_timed_ = at;
  last_timed_ = first_timed_;
  iterations_ = waited_ = 0;
  last_pause_.reset();
  boundaries_ = timed_ = pauses_ = 0;
  end_expected_ = false;
  builder_.emplace(WindowTerms{.setting = terms_.setting,
                               .pattern = terms_.pattern,
                               .first_iteration = at.iteration,
                               .pauses_belong = true,
                               .job_processes = terms_.job_processes});
  builder_->add(at.boundary, ends_round(at));
  for (const SamplerReading& reading : rank_.gpu->recent()) {
    if (reading.sample.time >= at.boundary.time - kReadingsBefore) builder_->add(reading);
  }
}

void RankMeter::extend(const CountedBoundary& at) {
  builder_->add(at.boundary, ends_round(at));
  iterations_ += at.boundary.iterations;
  keep_longest(at);
  last_ = at;
  if (at.boundary.gpu_time) {
    if (!first_timed_) first_timed_ = at;
    last_timed_ = at;
  }
  pauses_ += at.behind_pause;
  if (at.behind_pause) last_pause_ = at.iteration;
  const double between = terms_.plan.pause_every;
  if (between > 0) {
    done_ = done_ || (at.behind_pause && iterations_ >= kNearly * terms_.iterations) ||
            iterations_ >= terms_.iterations + kPausePatience * between;
  } else {
    done_ = iterations_ >= terms_.iterations;
  }
  if (!end_expected_ && iterations_ >= terms_.iterations / 2) expect_end();
  ++boundaries_;
  timed_ += at.boundary.gpu_time.has_value();
  too_slow_ = too_slow_ || (!done_ && terms_.step.abort_above && is_too_slow(at.boundary));
}

// Of the stretches between two times, the one with the most seconds.
void RankMeter::keep_longest(const CountedBoundary& at) {
  const bool on_gpu = at.boundary.gpu_time && last_timed_;
  if (!on_gpu && first_.boundary.gpu_time) return;
  const CountedBoundary& before = on_gpu ? *last_timed_ : last_;
  const Seconds took = on_gpu ? *at.boundary.gpu_time - *before.boundary.gpu_time
                              : at.boundary.time - before.boundary.time;
  if (took <= longest_.took) return;
  longest_ = {on_gpu ? at.iteration - before.iteration : at.boundary.iterations, took};
}

// Boundaries are told of late, so half-way is time enough.
void RankMeter::expect_end() {
  end_expected_ = true;
  const Seconds each = (last_.boundary.time - first_.boundary.time) / iterations_;
  rank_.gpu->want_energy_counter_at(first_.boundary.time + each * terms_.iterations + kStepBehind);
}

// Boundaries are told of a second late and more, so that waiting until the Window is one that can
// be used costs nothing.
bool RankMeter::is_too_slow(const Boundary& boundary) const {
  if (iterations_ < terms_.step.abort_after) return false;
  // More pauses than belong to so many iterations would make any Setting look slow, and without one
  // a Window of it is of no use.
  if (terms_.plan.real_pauses && pauses_ == 0) return false;
  if (iterations_ < kNearly * pauses_ * terms_.plan.pause_every) return false;
  const Seconds passed = boundary.time - first_.boundary.time;
  const bool usable = timed_ >= kFewestGpuTimes || boundaries_ >= kFewestHostTimes ||
                      boundary.launch == 0 || passed > kLongEnough;
  if (passed < kShortest || !usable) return false;
  const bool on_gpu = first_.boundary.gpu_time && boundary.gpu_time;
  const Seconds took = on_gpu ? *boundary.gpu_time - *first_.boundary.gpu_time : passed;
  // An evaluation too short to be a pause makes one stretch long; a slow Setting makes them all so.
  const double others = iterations_ - longest_.iterations;
  return terms_.step.aborts(iterations_, took / iterations_) &&
         terms_.step.aborts(others, (took - longest_.took) / others);
}

void RankMeter::add(const SamplerReading& reading) {
  if (builder_) builder_->add(reading);
}

void RankMeter::add(std::span<const GpuProcess> seen) {
  if (builder_) builder_->add(seen);
}

bool RankMeter::has_enough() const {
  const bool whole = terms_.plan.pause_every <= 0 || behind_pause();
  // A long Window of a Setting that is held may be cut by what is not watched: whatever was asked
  // for, most of a planned one is one. Less would hold fewer of the job's short pauses than a
  // baseline does.
  const double wanted =
      std::min(kEnough * terms_.iterations, kMostPlanned * terms_.plan.window_iterations);
  return builder_ && whole && iterations_ > 0 && iterations_ >= wanted;
}

bool RankMeter::ends_round(const CountedBoundary& at) const {
  return at.behind_pause && terms_.plan.pause_every > 0;
}

// A Window is closed a little later than its last Boundary came.
bool RankMeter::behind_pause() const {
  return last_pause_ && last_.iteration - *last_pause_ <= kJustBehind * terms_.plan.pause_every;
}

std::optional<CountedBoundary> RankMeter::end() const {
  if (!builder_ || !done_ || cut_) return std::nullopt;
  CountedBoundary end = last_;
  end.behind_pause = behind_pause();
  return end;
}

bool RankMeter::overdue(Instant now, Seconds late) const {
  if (!terms_.step.abort_above || done()) return false;
  const double wanted = terms_.iterations + kPausePatience * terms_.plan.pause_every;
  const Seconds passed = now - terms_.begun - late;
  return passed > kOverdue * (wanted + 1) * *terms_.step.abort_above && is_beyond(now, late);
}

bool RankMeter::is_beyond(Instant now, Seconds late) const {
  const Step& step = terms_.step;
  return step.abort_above && least_time(now, late) > *step.abort_above + step.abort_spread;
}

Seconds RankMeter::least_time(Instant now, Seconds late) const {
  return (now - terms_.begun - late) / (passed_ + 1);
}

Window RankMeter::interrupted(Instant now, Seconds late) const {
  Window window;
  window.setting = terms_.setting;
  window.pattern = terms_.pattern;
  window.begin = terms_.begun;
  window.duration = now - terms_.begun;
  window.unusable = "it was interrupted";
  const Seconds least = least_time(now, late);
  if (!is_beyond(now, late)) return window;
  double sum = 0;
  int readings = 0;
  for (const SamplerReading& reading : rank_.gpu->recent()) {
    const Sample& sample = reading.sample;
    const auto& power = sample.power_instant ? sample.power_instant : sample.power_average;
    if (sample.time < terms_.begun || !power) continue;
    sum += power->value();
    ++readings;
  }
  if (readings == 0) return window;
  window.unusable.clear();
  window.aborted = true;
  window.time_per_iteration = least;
  window.power = Watts(sum / readings);
  window.iterations = window.duration / least;
  return window;
}

Window RankMeter::close() const {
  if (!builder_) {
    Window nothing;
    nothing.setting = terms_.setting;
    nothing.begin = terms_.since;
    nothing.pattern = terms_.pattern;
    nothing.unusable = "the job made no iteration";
    return nothing;
  }
  Window window = builder_->close();
  window.aborted = too_slow_;
  return window;
}

}  // namespace hypermile
