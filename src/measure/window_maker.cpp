// SPDX-License-Identifier: Apache-2.0
#include "measure/window_maker.h"

#include <algorithm>
#include <utility>

namespace hypermile {
namespace {

// A read costs milliseconds; between two of them power tells how energy grew.
constexpr Seconds kWantEvery = Seconds(3);

}  // namespace

WindowMaker::WindowMaker(GpuWatch* gpu, const WindowPlan& plan, Done done)
    : gpu_(gpu), plan_(plan), done_(std::move(done)) {}

void WindowMaker::add(const Boundary& boundary, bool fresh) {
  if (boundary.pattern.level == 1) add_outer(boundary);
  if (boundary.pattern.level != 0) return;
  iteration_ += boundary.iterations;
  if (fresh || boundary.pattern != pattern_) {
    close();
    last_outer_.reset();
    outer_takes_ = Seconds(0);
  }
  last_ = boundary;
  if (!builder_) {
    begin(boundary);
    return;
  }
  builder_->add(boundary);
  if (!full()) return;
  // The end of a larger iteration is told after this; one that takes too long is not waited for.
  const bool soon = outer_takes_ > Seconds(0) && outer_takes_ < plan_.length / 2;
  if (!soon || builder_->span() >= plan_.length * 2) cut();
}

void WindowMaker::add_outer(const Boundary& outer) {
  if (!last_ || outer.launch != last_->launch || outer.pattern.phase != pattern_.phase) return;
  outer_takes_ = last_outer_ ? outer.time - last_outer_->time : Seconds(0);
  last_outer_ = outer;
  if (builder_ && full()) cut();
}

bool WindowMaker::full() const {
  if (builder_->span() < plan_.length || builder_->iterations() < plan_.fewest_iterations) {
    return false;
  }
  // GPU times stand at some Boundaries only; a Window on the GPU's clock has one at either end.
  return !begun_on_gpu_ || last_->gpu_time || builder_->span() >= plan_.length * 2;
}

void WindowMaker::cut() {
  usual_span_ = builder_->span();
  close();
  begin(*last_);
}

void WindowMaker::begin(const Boundary& boundary) {
  WindowTerms terms;
  terms.pattern = pattern_ = boundary.pattern;
  terms.first_iteration = iteration_;
  terms.job_processes = job_processes_;
  begun_on_gpu_ = boundary.gpu_time.has_value();
  builder_.emplace(std::move(terms));
  builder_->add(boundary);
  if (gpu_ == nullptr) return;
  for (const SamplerReading& reading : gpu_->recent()) {
    if (reading.sample.time >= boundary.time - kReadingsBefore) builder_->add(reading);
  }
  want_counter_at_an_end(boundary.time);
}

// Boundaries are told of seconds late, when it may be over what begins there. One Window is about
// as long as another: the counter is read where the one ends that the job is in now.
void WindowMaker::want_counter_at_an_end(Instant begin) {
  if (gpu_->clock().now() < counter_wanted_) return;
  const Seconds each = std::max(plan_.length, usual_span_);
  Instant read = begin + each + kStepBehind;
  while (read < gpu_->clock().now() || read - counter_wanted_ < kWantEvery) read = read + each;
  counter_wanted_ = read;
  gpu_->want_counter_at(read);
}

void WindowMaker::add(const SamplerReading& reading) {
  if (builder_) builder_->add(reading);
}

void WindowMaker::add(std::span<const GpuProcess> processes) {
  if (builder_) builder_->add(processes);
}

void WindowMaker::close() {
  if (!builder_) return;
  const WindowBuilder builder = *std::exchange(builder_, std::nullopt);
  if (builder.span() >= plan_.shortest && builder.iterations() >= 2) done_(builder.close());
}

}  // namespace hypermile
