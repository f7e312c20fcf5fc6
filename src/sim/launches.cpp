// SPDX-License-Identifier: Apache-2.0
#include "sim/launches.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr double kSlowest = 3;      // multiple of the pace at most: the interpreter runs in between
constexpr double kReaction = 2e-5;  // s from the end of a wait to the first launch
// Work of one block of a grid: 256 threads that move 64 float4 each; a 128 x 128 tile of a product
// over 1024.
constexpr double kBytesPerBlock = 256.0 * 64 * 16;
constexpr double kFlopsPerBlock = 2.0 * 128 * 128 * 1024;

double launches_of(const PhaseWork& phase, const Load& load) {
  double sum = 0;
  for (std::uint32_t i = 0; i < phase.part_count; ++i) {
    const PartWork& part = phase.parts[i];
    sum += part.launches * (part.each_micro_batch ? load.micro_batches : 1);
  }
  return sum;
}

std::uint64_t count_of(const PartWork& part) {
  return static_cast<std::uint64_t>(std::llround(part.launches));
}

std::uint32_t kernel_of(const PartWork& part, std::uint64_t launch) {
  return part.first_kernel + static_cast<std::uint32_t>(launch % part.kernel_kinds);
}

// Blocks of one launch where the iteration has `work` times its mean work.
std::uint64_t blocks_of(const PartWork& part, double work) {
  if (part.graph || part.launches <= 0) return 0;
  double flops = 0;
  for (const double each : part.flops) flops += each;
  const double blocks = std::max(part.bytes / kBytesPerBlock, flops / kFlopsPerBlock);
  return static_cast<std::uint64_t>(std::max(1.0, std::round(work * blocks / part.launches)));
}

// Calls visit(part) for every part of an iteration in the order in which the parts run.
template <class Visit>
void each_part(const PhaseWork& phase, const Load& load, Visit visit) {
  for (std::uint32_t micro = 0; micro < load.micro_batches; ++micro) {
    for (std::uint32_t i = 0; i < phase.part_count; ++i) {
      if (phase.parts[i].each_micro_batch) visit(phase.parts[i]);
    }
  }
  for (std::uint32_t i = 0; i < phase.part_count; ++i) {
    if (!phase.parts[i].each_micro_batch) visit(phase.parts[i]);
  }
}

}  // namespace

void LaunchEmitter::begin_iteration(double start_s) {
  host_s_ = std::max(host_s_, start_s);
}

// Mean `pace`: most launches are quick, some are slow.
double LaunchEmitter::pause(double pace) {
  const double draw = random_.uniform();
  return pace * (draw < 0.8 ? 0.6 + 0.4 * random_.uniform() : kSlowest * random_.uniform());
}

// The part occupies the GPU for the stretch `within`.
void LaunchEmitter::emit_part(const PartWork& part, const FinishedUnit& within, LaunchSink& sink) {
  const std::uint64_t count = count_of(part);
  if (count == 0) return;
  const double start_s = within.start_s;
  const double duration_s = within.duration_s;
  const double waits = part.data_stall.value() + part.host.value();
  if (waits > 0) {
    host_s_ = std::max(host_s_, start_s + std::min(waits, duration_s * 0.9) + kReaction);
  }
  // All launches must fit into the part's duration.
  const double left = start_s + duration_s - host_s_;
  const double pace =
      std::min(load_.launch_pace.value(), std::max(0.0, left) * 0.9 / static_cast<double>(count));
  const std::uint64_t blocks = blocks_of(part, within.work);
  for (std::uint64_t i = 0; i < count; ++i) {
    const double along = duration_s * static_cast<double>(i) / static_cast<double>(count);
    sink.launch({host_s_, std::max(host_s_, start_s + along), kernel_of(part, i), blocks});
    host_s_ += pause(pace);
  }
}

// Within a block the times of single parts are unknown; each gets its share of the launches.
void LaunchEmitter::emit_iteration(const PhaseWork& phase, const FinishedUnit& within,
                                   LaunchSink& sink) {
  const double spacing = within.duration_s / std::max(1.0, launches_of(phase, load_));
  begin_iteration(within.start_s);
  FinishedUnit stretch = within;
  each_part(phase, load_, [&](const PartWork& part) {
    stretch.duration_s = part.launches * spacing;
    emit_part(part, stretch, sink);
    stretch.start_s += stretch.duration_s;
  });
}

// Plans the launches of the next dispatch_ahead iterations; the GPU begins the first at `start_s`.
void LaunchEmitter::schedule_round(double start_s, double work) {
  host_s_ = std::max(host_s_, start_s);
  for (std::uint32_t i = 0; i < load_.dispatch_ahead; ++i) {
    each_part(load_.phases[0], load_, [&](const PartWork& part) {
      const std::uint64_t blocks = blocks_of(part, work);
      for (std::uint64_t k = 0; k < count_of(part); ++k) {
        scheduled_.push_back({host_s_, std::nullopt, kernel_of(part, k), blocks});
        host_s_ += pause(load_.launch_pace.value());
      }
    });
  }
}

void LaunchEmitter::let_go(double until_s, LaunchSink& sink) {
  while (!scheduled_.empty() && scheduled_.front().time_s <= until_s) {
    sink.launch(scheduled_.front());
    scheduled_.pop_front();
    ++ahead_;
  }
}

// The GPU has run the part. What it reached was launched before, so a host that is slower than the
// GPU is hurried.
void LaunchEmitter::reach(const PartWork& part, double start_s, double duration_s,
                          LaunchSink& sink) {
  const std::uint64_t count = count_of(part);
  for (std::uint64_t i = 0; i < count; ++i) {
    const double at_s = start_s + duration_s * static_cast<double>(i) / static_cast<double>(count);
    if (ahead_ == 0 && !scheduled_.empty()) {
      scheduled_.front().time_s = at_s;
      let_go(at_s, sink);
    }
    if (ahead_ == 0) return;
    --ahead_;
    sink.reached(at_s);
  }
}

void LaunchEmitter::emit_ahead(const FinishedUnit& unit, LaunchSink& sink) {
  const PhaseWork& phase = load_.phases[unit.phase];
  const bool part_of_begun = unit.count == 0 && begun_ && unit.iteration == iteration_;
  begun_ = true;
  iteration_ = unit.iteration;
  const std::uint64_t iterations = std::max<std::uint64_t>(1, unit.count);
  const double each = unit.duration_s / static_cast<double>(iterations);
  for (std::uint64_t i = 0; i < iterations; ++i) {
    const double start = unit.start_s + static_cast<double>(i) * each;
    if (!part_of_begun) {
      if (since_round_ == 0) schedule_round(start, unit.work);
      since_round_ = (since_round_ + 1) % load_.dispatch_ahead;
    }
    let_go(start + each, sink);
    if (unit.count == 0) {
      reach(phase.parts[unit.part], start, each, sink);
      continue;
    }
    const double spacing = each / std::max(1.0, launches_of(phase, load_));
    double at = start;
    each_part(phase, load_, [&](const PartWork& part) {
      reach(part, at, part.launches * spacing, sink);
      at += part.launches * spacing;
    });
  }
}

void LaunchEmitter::emit(const FinishedUnit& unit, LaunchSink& sink) {
  const PhaseWork& phase = load_.phases[unit.phase];
  if (load_.dispatch_ahead > 0) {
    if (unit.phase == 0) return emit_ahead(unit, sink);
    let_go(unit.start_s, sink);
  }
  if (unit.count == 0) {
    if (!begun_ || unit.iteration != iteration_) begin_iteration(unit.start_s);
    begun_ = true;
    iteration_ = unit.iteration;
    emit_part(phase.parts[unit.part], unit, sink);
    return;
  }
  FinishedUnit one = unit;
  one.duration_s = unit.duration_s / static_cast<double>(unit.count);
  for (std::uint64_t i = 0; i < unit.count; ++i) {
    one.start_s = unit.start_s + static_cast<double>(i) * one.duration_s;
    emit_iteration(phase, one, sink);
  }
}

void LaunchEmitter::skip(const FinishedUnit& unit) {
  begun_ = unit.count == 0;
  iteration_ = unit.iteration;
  host_s_ = std::max(host_s_, unit.start_s);
}

}  // namespace hypermile
