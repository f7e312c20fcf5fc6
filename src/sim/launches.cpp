// SPDX-License-Identifier: Apache-2.0
#include "sim/launches.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr double kPace = 6e-6;      // s between two launches, as in eager frameworks
constexpr double kSlowest = 3;      // multiple of kPace at most: the interpreter runs in between
constexpr double kReaction = 2e-5;  // s from the end of a wait to the first launch

double launches_of(const PhaseWork& phase, const Load& load) {
  double sum = 0;
  for (std::uint32_t i = 0; i < phase.part_count; ++i) {
    const PartWork& part = phase.parts[i];
    sum += part.launches * (part.each_micro_batch ? load.micro_batches : 1);
  }
  return sum;
}

}  // namespace

void LaunchEmitter::begin_iteration(double start_s) {
  host_s_ = std::max(host_s_, start_s);
}

// The part occupies the GPU from `start_s` on, for `duration_s`.
void LaunchEmitter::emit_part(const PartWork& part, double start_s, double duration_s,
                              LaunchSink& sink) {
  const auto count = static_cast<std::uint64_t>(std::llround(part.launches));
  if (count == 0) return;
  const double waits = part.data_stall.value() + part.host.value();
  if (waits > 0) {
    host_s_ = std::max(host_s_, start_s + std::min(waits, duration_s * 0.9) + kReaction);
  }
  // All launches must fit into the part's duration.
  const double left = start_s + duration_s - host_s_;
  const double pace = std::min(kPace, std::max(0.0, left) * 0.9 / static_cast<double>(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    const double along = duration_s * static_cast<double>(i) / static_cast<double>(count);
    sink.launch(host_s_, std::max(host_s_, start_s + along),
                part.first_kernel + static_cast<std::uint32_t>(i % part.kernel_kinds));
    // Mean 1: most launches are quick, some are slow.
    const double draw = random_.uniform();
    host_s_ += pace * (draw < 0.8 ? 0.6 + 0.4 * random_.uniform() : kSlowest * random_.uniform());
  }
}

// Within a block the times of single parts are unknown; each gets its share of the launches.
void LaunchEmitter::emit_iteration(const PhaseWork& phase, double start_s, double duration_s,
                                   LaunchSink& sink) {
  const double spacing = duration_s / std::max(1.0, launches_of(phase, load_));
  double at = start_s;
  const auto emit = [&](const PartWork& part) {
    const double duration = part.launches * spacing;
    emit_part(part, at, duration, sink);
    at += duration;
  };
  begin_iteration(start_s);
  for (std::uint32_t micro = 0; micro < load_.micro_batches; ++micro) {
    for (std::uint32_t i = 0; i < phase.part_count; ++i) {
      if (phase.parts[i].each_micro_batch) emit(phase.parts[i]);
    }
  }
  for (std::uint32_t i = 0; i < phase.part_count; ++i) {
    if (!phase.parts[i].each_micro_batch) emit(phase.parts[i]);
  }
}

void LaunchEmitter::emit(const FinishedUnit& unit, LaunchSink& sink) {
  const PhaseWork& phase = load_.phases[unit.phase];
  if (unit.count == 0) {
    if (!begun_ || unit.iteration != iteration_) begin_iteration(unit.start_s);
    begun_ = true;
    iteration_ = unit.iteration;
    emit_part(phase.parts[unit.part], unit.start_s, unit.duration_s, sink);
    return;
  }
  const double each = unit.duration_s / static_cast<double>(unit.count);
  for (std::uint64_t i = 0; i < unit.count; ++i) {
    emit_iteration(phase, unit.start_s + static_cast<double>(i) * each, each, sink);
  }
}

void LaunchEmitter::skip(const FinishedUnit& unit) {
  begun_ = unit.count == 0;
  iteration_ = unit.iteration;
  host_s_ = std::max(host_s_, unit.start_s);
}

}  // namespace hypermile
