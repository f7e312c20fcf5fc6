// SPDX-License-Identifier: Apache-2.0
#include "cli/simulated_launches.h"

#include <algorithm>
#include <cstdlib>

namespace hypermile {
namespace {

// No stretch of a job is shorter on average: short iterations run in blocks, except where each is
// drawn by itself.
constexpr Seconds kShortestStretch = milliseconds(1);

}  // namespace

SimulatedLaunches::SimulatedLaunches(const Machine& machine, std::uint32_t device, const Load& load,
                                     Instant now)
    : origin_(now - Seconds(machine.now_s() / machine.speed())), speed_(machine.speed()) {
  if (std::getenv(kRingDirVariable) == nullptr) return;
  ring_ = std::make_unique<RingWriter>();
  if (!ring_->open(RingSource::kLaunches)) {
    ring_.reset();
    return;
  }
  ring_->set_status(RingStatus::kWatching, "");
  ring_->put(static_cast<std::uint64_t>(now.nanoseconds()), pack_b(RecordKind::kContext, 0, device),
             0);
  player_.emplace(*ring_, load, CardTime{origin_, 0, speed_},
                  LaunchPlayer::Terms{.seed = device, .device = device});
}

SimulatedLaunches::~SimulatedLaunches() {
  if (ring_) ring_->end();
}

Seconds SimulatedLaunches::kept() {
  return kShortestStretch * static_cast<double>(kKeptUnits);
}

void SimulatedLaunches::advance(const GpuView& view) {
  if (!player_) return;
  const UnitRing& ring = view.record.finished;
  player_->move({origin_, view.record.slept_s, speed_});
  player_->look();
  const std::uint64_t oldest = ring.count > kKeptUnits ? ring.count - kKeptUnits : 0;
  for (std::uint64_t i = std::max(seen_, oldest); i < ring.count; ++i) {
    player_->finished(ring.units[i % kKeptUnits]);
  }
  seen_ = ring.count;
  player_->caught_up(view.record.sim.now_s);
}

}  // namespace hypermile
