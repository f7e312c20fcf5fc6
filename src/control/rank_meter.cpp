// SPDX-License-Identifier: Apache-2.0
#include "control/rank_meter.h"

#include <algorithm>
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
// The counter's steps around the first Boundary fix the energy there.
constexpr Seconds kBefore = Seconds(1);

}  // namespace

RankMeter::RankMeter(Rank rank, MeterTerms terms, const std::optional<CountedBoundary>& first)
    : rank_(rank), terms_(std::move(terms)) {
  if (first) begin(*first);
}

void RankMeter::add(const CountedBoundary& at, bool fresh) {
  const Boundary& boundary = at.boundary;
  if (done() || boundary.pattern.level != terms_.pattern.level) return;
  const bool ours = boundary.pattern == terms_.pattern;
  if (boundary.time < terms_.since || (!builder_ && !ours)) return;
  if (!builder_) {
    begin(at);
  } else if (fresh || !ours || cuts(boundary)) {
    cut_ = done_ = has_enough() || (++restarts_ > kRestarts && iterations_ > 0);
    if (done_) return;
    builder_.reset();
    if (ours) begin(at);
  } else {
    extend(at);
  }
}

void RankMeter::begin(const CountedBoundary& at) {
  first_ = last_ = at;
  first_timed_.reset();
  if (at.boundary.gpu_time) first_timed_ = at;
  last_timed_ = first_timed_;
  iterations_ = 0;
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
  if (done_ || !terms_.abort_above || iterations_ < terms_.abort_after) return;
  too_slow_ = elapsed_to(at.boundary) / iterations_ > *terms_.abort_above;
}

// Since the Window began: on the GPU's own axis where both ends carry it.
Seconds RankMeter::elapsed_to(const Boundary& boundary) const {
  const Boundary& from = first_.boundary;
  if (from.gpu_time && boundary.gpu_time) return *boundary.gpu_time - *from.gpu_time;
  return boundary.time - from.time;
}

// Whether the job paused before this Boundary in a way that a Window must not contain. A host that
// runs ahead waits for its GPU now and then: the GPU's own times tell that from a pause.
bool RankMeter::cuts(const Boundary& boundary) {
  const Seconds longest = std::max(kPause * terms_.plan.typical, kShortestPause);
  if (boundary.time - last_.boundary.time <= longest) return false;
  if (boundary.gpu_time && last_timed_) {
    const double passed = last_.iteration + boundary.iterations - last_timed_->iteration;
    const Seconds took = *boundary.gpu_time - *last_timed_->boundary.gpu_time;
    if (took <= longest + passed * terms_.plan.typical) return false;
  }
  const double at = last_.iteration + boundary.iterations;
  const double apart = at - std::exchange(terms_.last_pause, at);
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
