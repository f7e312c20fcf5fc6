// SPDX-License-Identifier: Apache-2.0
#include "control/rank_meter.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hypermile {
namespace {

// A pause is this much longer than an iteration, and no shorter than what a host may wait for its
// GPU. Pauses that come several times a Window are how the job runs; how far apart they are is
// counted in iterations, since a clock must not change it.
constexpr double kPause = 4;
constexpr Seconds kShortestPause = milliseconds(300);
constexpr double kUsual = 1.0 / 3;  // of a Window as planned
constexpr double kEnough = 0.25;    // of the iterations asked for
constexpr int kRestarts = 2;
// What WindowBuilder asks of a Window, so that one that is cut short for being too slow is usable.
constexpr Seconds kShortest = Seconds(0.6);
constexpr int kFewestGpuTimes = 6;
constexpr int kFewestHostTimes = 25;
constexpr Seconds kLongEnough = Seconds(3);  // however few there are
constexpr Seconds kAxesApart = Seconds(10);  // no host runs further ahead
// The counter's steps around the first Boundary fix the energy there.
constexpr Seconds kBefore = Seconds(1);

}  // namespace

RankMeter::RankMeter(Rank rank, MeterTerms terms, const std::optional<CountedBoundary>& first)
    : rank_(rank), terms_(std::move(terms)) {
  if (first) begin(*first);
}

void RankMeter::add(const CountedBoundary& at, bool fresh) {
  const Boundary& boundary = at.boundary;
  if (cut_ || boundary.pattern != terms_.pattern || boundary.time < terms_.since) return;
  // One that has all it wanted goes on until it is closed: the next begins where it ends, and no
  // iteration may be lost between the two.
  if (!builder_) {
    begin(at);
  } else if (boundary.unseen || cuts(at) || (fresh && on_another_axis(boundary))) {
    // What was not watched ends a Window whatever it has; it is no fault of the job's.
    const bool patient = boundary.unseen || ++restarts_ <= kRestarts;
    cut_ = done() || has_enough() || (!patient && iterations_ > 0);
    done_ = done_ || cut_;
    if (!cut_) begin(at);
  } else {
    extend(at);
  }
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
  if (at.boundary.gpu_time) first_timed_ = at;
  last_timed_ = first_timed_;
  iterations_ = 0;
  boundaries_ = timed_ = 0;
  builder_.emplace(WindowTerms{.setting = terms_.setting,
                               .pattern = terms_.pattern,
                               .first_iteration = at.iteration,
                               .pauses_belong = true,
                               .job_processes = terms_.job_processes});
  builder_->add(at.boundary);
  for (const SamplerReading& reading : rank_.gpu->recent()) {
    if (reading.sample.time >= at.boundary.time - kBefore) builder_->add(reading);
  }
}

void RankMeter::extend(const CountedBoundary& at) {
  builder_->add(at.boundary);
  iterations_ += at.boundary.iterations;
  last_ = at;
  if (at.boundary.gpu_time) {
    if (!first_timed_) first_timed_ = at;
    last_timed_ = at;
  }
  done_ = iterations_ >= terms_.iterations;
  ++boundaries_;
  timed_ += at.boundary.gpu_time.has_value();
  too_slow_ = too_slow_ || (!done_ && terms_.abort_above && is_too_slow(at.boundary));
}

// Boundaries are told of a second late and more, so that waiting until the Window is one that can
// be used costs nothing.
bool RankMeter::is_too_slow(const Boundary& boundary) const {
  if (iterations_ < terms_.abort_after) return false;
  const Seconds passed = boundary.time - first_.boundary.time;
  const bool usable = timed_ >= kFewestGpuTimes || boundaries_ >= kFewestHostTimes ||
                      boundary.launch == 0 || passed > kLongEnough;
  if (passed < kShortest || !usable) return false;
  const bool on_gpu = first_.boundary.gpu_time && boundary.gpu_time;
  const Seconds took = on_gpu ? *boundary.gpu_time - *first_.boundary.gpu_time : passed;
  return took / iterations_ > *terms_.abort_above;
}

// Whether the job paused before this Boundary in a way that a Window must not contain. A host that
// runs ahead waits for its GPU now and then: the GPU's own times tell that from a pause.
bool RankMeter::cuts(const CountedBoundary& at) {
  const Boundary& boundary = at.boundary;
  const Seconds longest = std::max(kPause * terms_.plan.typical, kShortestPause);
  if (boundary.time - last_.boundary.time <= longest) return false;
  if (boundary.gpu_time && last_timed_) {
    const double passed = at.iteration - last_timed_->iteration;
    const Seconds took = *boundary.gpu_time - *last_timed_->boundary.gpu_time;
    if (took <= longest + passed * terms_.plan.typical) return false;
  }
  const double apart = at.iteration - std::exchange(terms_.last_pause, at.iteration);
  return apart >= kUsual * terms_.plan.window_iterations;
}

void RankMeter::add(const SamplerReading& reading) {
  if (builder_) builder_->add(reading);
}

void RankMeter::add(std::span<const GpuProcess> seen) {
  if (builder_) builder_->add(seen);
}

bool RankMeter::has_enough() const {
  return builder_ && iterations_ > 0 && iterations_ >= kEnough * terms_.iterations;
}

std::optional<CountedBoundary> RankMeter::end() const {
  return builder_ && done_ && !cut_ ? std::optional(last_) : std::nullopt;
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
