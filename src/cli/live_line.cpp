// SPDX-License-Identifier: Apache-2.0
#include "cli/live_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <ostream>

namespace hypermile {
namespace {

constexpr const char* kClearLine = "\r\x1b[K";

// In the background a terminal belongs to somebody else.
bool in_foreground() {
  return ::tcgetpgrp(STDERR_FILENO) == ::getpgrp();
}

}  // namespace

LiveLine::LiveLine(CommandContext& context, bool quiet, bool asked_for)
    : context_(context),
      wanted_(context.terminal && !quiet && (asked_for || ::isatty(STDOUT_FILENO) == 0)) {}

std::function<void(const JobProgress&, const WindowBook&)> LiveLine::shower() {
  return [this](const JobProgress& progress, const WindowBook& book) { show(progress, book); };
}

void LiveLine::show(const JobProgress& progress, const WindowBook& book) {
  if (!in_foreground()) return;
  context_.err << kClearLine << "hypermile: " << live_text(progress, book) << "\r" << std::flush;
  shown_ = true;
}

void LiveLine::clear() {
  if (shown_ && in_foreground()) context_.err << kClearLine << std::flush;
  shown_ = false;
}

std::string live_text(const JobProgress& progress, const WindowBook& book) {
  const ProcessProgress* process = progress.main_process();
  if (process == nullptr) return "no CUDA seen yet";
  const PhaseProgress* phase = process->phase_in_force();
  if (phase == nullptr)
    return fmt::format("looking for iterations, {} launches", process->launches());
  double micro_batches = 1;
  for (const PhaseProgress::Level& level : phase->levels) {
    if (level.optimizer) micro_batches = level.outer.inner;
  }
  std::string text = fmt::format("{:.0f} iterations", phase->iterations / micro_batches);
  const std::optional<Window> window = book.last(*process);
  if (!window || window->pattern.phase != phase->phase) return text;
  text += fmt::format(", {:.2f} ms", window->time_per_iteration->value() * micro_batches * 1e3);
  if (window->energy_per_iteration) {
    text += fmt::format(", {:.2f} J", window->energy_per_iteration->value() * micro_batches);
  }
  if (window->power) text += fmt::format(", {:.0f} W", window->power->value());
  if (window->sm_clock) text += fmt::format(" at {:.0f} MHz", window->sm_clock->value());
  return text;
}

}  // namespace hypermile
