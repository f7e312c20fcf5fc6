// SPDX-License-Identifier: Apache-2.0
#include "cli/simulated_launches.h"

#include <bit>
#include <cstdlib>
#include <string>

namespace hypermile {
namespace {

constexpr int kLayers = 80;  // two launches each: about as many as a small network makes

std::uint64_t ns(Instant time) {
  return static_cast<std::uint64_t>(time.nanoseconds());
}

}  // namespace

SimulatedLaunches::SimulatedLaunches(std::uint32_t device, Instant now)
    : device_(device), begin_(now), last_(now) {
  if (std::getenv(kRingDirVariable) == nullptr) return;
  ring_ = std::make_unique<RingWriter>();
  if (!ring_->open(RingSource::kLaunches)) {
    ring_.reset();
    return;
  }
  ring_->set_status(RingStatus::kWatching, "");
  ring_->put(ns(now), pack_b(RecordKind::kContext, 0, device_), 0);
  for (const char* pass : {"forward", "backward"}) {
    for (int layer = 0; layer < kLayers; ++layer) {
      kernels_.push_back(
          ring_->intern(("simulated_" + std::string(pass) + std::to_string(layer)).c_str()));
    }
  }
  kernels_.push_back(ring_->intern("simulated_optimizer"));
}

SimulatedLaunches::~SimulatedLaunches() {
  if (ring_) ring_->end();
}

void SimulatedLaunches::advance(Instant now, double iterations) {
  if (!ring_) return;
  const auto per_iteration = static_cast<double>(kernels_.size());
  const double progress = iterations - iterations_;
  while (progress > 0 && static_cast<double>(launched_) < iterations * per_iteration) {
    const double at = static_cast<double>(launched_) / per_iteration;
    launch(launched_++, last_ + (now - last_) * ((at - iterations_) / progress));
  }
  last_ = now;
  iterations_ = iterations;
}

// This GPU runs a kernel as soon as it is launched, so GPU times are host times.
void SimulatedLaunches::launch(std::uint64_t which, Instant time) {
  const std::uint32_t kernel = kernels_[which % kernels_.size()];
  const std::uint64_t number = ring_->put(ns(time), pack_b(RecordKind::kLaunch, 0, kernel), 1);
  const RingControl& wanted = ring_->control();
  const bool boundary = wanted.events_wanted != 0 && wanted.kernel == kernel &&
                        (wanted.previous == kNoName || wanted.previous == previous_);
  previous_ = kernel;
  if (!boundary || ns(time) - ns(last_event_) < kLeastSpacingNs) return;
  last_event_ = time;
  ring_->put(number, pack_b(RecordKind::kGpuTime, 0, device_),
             std::bit_cast<std::uint64_t>((time - begin_).value()));
}

}  // namespace hypermile
