// SPDX-License-Identifier: Apache-2.0
#include "sim/launches.h"

#include <cmath>

namespace hypermile {
namespace {

// Launches are spread evenly over a part; the queue in front of a GPU hides finer detail.
void emit_part(const PartWork& part, double start_s, double duration_s, LaunchSink& sink) {
  const auto count = static_cast<std::uint64_t>(std::llround(part.launches));
  if (count == 0) return;
  const double spacing = duration_s / static_cast<double>(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    sink.launch(start_s + static_cast<double>(i) * spacing,
                part.first_kernel + static_cast<std::uint32_t>(i % part.kernel_kinds));
  }
}

double launches_of(const PhaseWork& phase, const Load& load) {
  double sum = 0;
  for (std::uint32_t i = 0; i < phase.part_count; ++i) {
    const PartWork& part = phase.parts[i];
    sum += part.launches * (part.each_micro_batch ? load.micro_batches : 1);
  }
  return sum;
}

// Inside a block the parts' own times are not known: each gets its share of the launches.
void emit_iteration(const PhaseWork& phase, const Load& load, double start_s, double duration_s,
                    LaunchSink& sink) {
  const double spacing = duration_s / std::max(1.0, launches_of(phase, load));
  double at = start_s;
  const auto emit = [&](const PartWork& part) {
    const double duration = part.launches * spacing;
    emit_part(part, at, duration, sink);
    at += duration;
  };
  for (std::uint32_t micro = 0; micro < load.micro_batches; ++micro) {
    for (std::uint32_t i = 0; i < phase.part_count; ++i) {
      if (phase.parts[i].each_micro_batch) emit(phase.parts[i]);
    }
  }
  for (std::uint32_t i = 0; i < phase.part_count; ++i) {
    if (!phase.parts[i].each_micro_batch) emit(phase.parts[i]);
  }
}

}  // namespace

void emit_launches(const FinishedUnit& unit, const Load& load, LaunchSink& sink) {
  const PhaseWork& phase = load.phases[unit.phase];
  if (unit.count == 0) {
    emit_part(phase.parts[unit.part], unit.start_s, unit.duration_s, sink);
    return;
  }
  const double each = unit.duration_s / static_cast<double>(unit.count);
  for (std::uint64_t i = 0; i < unit.count; ++i) {
    emit_iteration(phase, load, unit.start_s + static_cast<double>(i) * each, each, sink);
  }
}

}  // namespace hypermile
