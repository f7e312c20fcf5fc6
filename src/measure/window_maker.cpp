// SPDX-License-Identifier: Apache-2.0
#include "measure/window_maker.h"

#include <algorithm>
#include <utility>

namespace hypermile {
namespace {

// A read of the energy counter costs milliseconds; between two reads, power samples show how energy
// grew.
constexpr Seconds kWantEvery = Seconds(3);

}  // namespace

WindowMaker::WindowMaker(GpuWatch* gpu, const WindowLengths& lengths, Done done)
    : gpu_(gpu), lengths_(lengths), done_(std::move(done)) {}

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
  // The Boundary of level 1 arrives after that of level 0. Wait for it only if larger iterations
  // are short.
  const bool soon = outer_takes_ > Seconds(0) && outer_takes_ < lengths_.length / 2;
  if (!soon || builder_->span() >= lengths_.length * 2) cut();
}

void WindowMaker::add_outer(const Boundary& outer) {
  if (!last_ || outer.launch != last_->launch || outer.pattern.phase != pattern_.phase) return;
  outer_takes_ = last_outer_ ? outer.time - last_outer_->time : Seconds(0);
  last_outer_ = outer;
  if (builder_ && full()) cut();
}

bool WindowMaker::full() const {
  if (builder_->span() < lengths_.length || builder_->iterations() < lengths_.fewest_iterations) {
    return false;
  }
  // Only some Boundaries carry a GPU time; a Window that began with one also ends with one.
  return !begun_on_gpu_ || last_->gpu_time || builder_->span() >= lengths_.length * 2;
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
  terms.shortest_on_host = lengths_.length;
  begun_on_gpu_ = boundary.gpu_time.has_value();
  builder_.emplace(std::move(terms));
  builder_->add(boundary);
  if (gpu_ == nullptr) return;
  for (const SamplerReading& reading : gpu_->recent()) {
    if (reading.sample.time >= boundary.time - kReadingsBefore) builder_->add(reading);
  }
  want_counter_at_an_end(boundary.time);
}

// The detector reports a Boundary several seconds late, so the Window that begins there may already
// be over. Windows are about equally long, so the counter is read at the expected end of the Window
// in which the job is now.
void WindowMaker::want_counter_at_an_end(Instant begin) {
  if (gpu_->clock().now() < counter_wanted_) return;
  const Seconds each = std::max(lengths_.length, usual_span_);
  Instant read = begin + each + kStepBehind;
  while (read < gpu_->clock().now() || read - counter_wanted_ < kWantEvery) read = read + each;
  counter_wanted_ = read;
  gpu_->want_energy_counter_at(read);
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
  if (builder.span() >= lengths_.shortest && builder.iterations() >= 2) done_(builder.close());
}

}  // namespace hypermile
