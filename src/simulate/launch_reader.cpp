// SPDX-License-Identifier: Apache-2.0
#include "simulate/launch_reader.h"

#include <cmath>
#include <utility>

#include "base/random.h"

namespace hypermile {
namespace {

constexpr double kEventEvery = 0.05;  // s

}  // namespace

LaunchReader::LaunchReader(SimGpu& gpu, const Load& load, std::uint64_t seed)
    : gpu_(gpu), emitter_(load, derive_seed(seed, "launches")), detector_(*this) {
  gpu_.observe(this);
}

LaunchReader::~LaunchReader() {
  gpu_.observe(nullptr);
}

std::vector<Tick> LaunchReader::take() {
  (void)gpu_.state();  // brings the job up to date, and with it the launches
  return std::exchange(ticks_, {});
}

void LaunchReader::launch(double time_s, double gpu_s, std::uint32_t kernel) {
  gpu_s_ = gpu_s;
  Launch launch;
  launch.time = gpu_.instant(time_s);
  launch.kernel = kernel;
  detector_.add(launch);
  detector_.analyse_if_due();
}

void LaunchReader::locked(const Pattern& pattern, const Lock&) {
  if (!training_) training_ = pattern.phase;
}

void LaunchReader::boundary(const Boundary& boundary) {
  if (boundary.pattern != PatternId{*training_, 0}) return;
  count_ += boundary.iterations;
  Tick tick{
      static_cast<std::uint64_t>(std::llround(count_)), boundary.time, boundary.launch + 1, {}};
  // Only where the controller knows the boundary as it happens; not for those told afterwards.
  const bool live = boundary.launch + 1 == detector_.launches();
  if (live && (!event_s_ || gpu_s_ - *event_s_ >= kEventEvery)) {
    tick.gpu_time = Seconds(gpu_s_);
    event_s_ = gpu_s_;
  }
  ticks_.push_back(tick);
}

}  // namespace hypermile
