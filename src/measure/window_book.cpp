// SPDX-License-Identifier: Apache-2.0
#include "measure/window_book.h"

#include <algorithm>

namespace hypermile {
namespace {

// How much a Window tells of what an iteration takes; 0 is nothing.
int worth(const Window& window) {
  if (!window.time_per_iteration) return 0;
  const int whole = window.gpu_timed ? 3 : 2;
  if (window.unusable.empty()) return whole;
  switch (window.refusal) {
    case Refusal::kHeldBack:
    case Refusal::kIdle:
    case Refusal::kNoPower:
      return whole;
    case Refusal::kPaused:
      return 1;
    case Refusal::kClockNotReached:
    case Refusal::kOther:
      return 0;
  }
  return 0;
}

// Reasons with their figures cut off, so that equal ones are counted together.
std::string kind_of(const std::string& reason) {
  std::string kind = reason.substr(0, reason.find_first_of("0123456789:("));
  for (const char* tail : {" ", " for", " of"}) {
    if (kind.ends_with(tail)) kind.resize(kind.size() - std::string_view(tail).size());
  }
  return kind;
}

}  // namespace

void PhaseWindows::forget_means() {
  time = energy = disagreement = power = sm_clock = WindowMean();
  gpu_timed = 0;
}

void WindowBook::add(const ProcessProgress& process, const GpuUuid& gpu, const Window& window) {
  PhaseWindows& in = entry(process, window.pattern.phase, gpu);
  ++in.windows;
  if (!window.unusable.empty()) ++in.unusable[kind_of(window.unusable)];
  const int told = worth(window);
  if (told > in.worth) in.forget_means();
  in.worth = std::max(in.worth, told);
  if (told == 0 || told < in.worth) return;
  if (window.gpu_timed) ++in.gpu_timed;
  const double n = window.iterations;
  in.time.add(window.time_per_iteration->value(), n, window.time_error);
  if (window.energy_per_iteration) {
    in.energy.add(window.energy_per_iteration->value(), n, window.energy_error);
  }
  if (window.energy_disagreement) in.disagreement.add(*window.energy_disagreement, n, {});
  if (window.power) in.power.add(window.power->value(), window.duration.value(), {});
  if (window.sm_clock) in.sm_clock.add(window.sm_clock->value(), window.duration.value(), {});
}

PhaseWindows& WindowBook::entry(const ProcessProgress& process, std::uint32_t phase,
                                const GpuUuid& gpu) {
  const auto found = std::ranges::find_if(entries_, [&](const PhaseWindows& in) {
    return in.process == &process && in.phase == phase && in.gpu == gpu;
  });
  if (found != entries_.end()) return *found;
  PhaseWindows made;
  made.process = &process;
  made.phase = phase;
  made.gpu = gpu;
  entries_.push_back(std::move(made));
  return entries_.back();
}

}  // namespace hypermile
