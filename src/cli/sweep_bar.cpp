// SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_bar.h"

#include <fmt/format.h>

#include <ostream>

namespace hypermile {
namespace {

constexpr const char* kClearLine = "\r\x1b[K";
constexpr std::size_t kCells = 20;

std::string time_text(Seconds left) {
  const double seconds = left.value();
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

std::string bar_text(const SweepProgress& progress) {
  if (progress.planned == 0) return "watching the job before its settings are swept";
  const std::size_t cells = progress.done * kCells / progress.planned;
  std::string text = fmt::format("[{}{}] {}/{} windows", std::string(cells, '#'),
                                 std::string(kCells - cells, '-'), progress.done, progress.planned);
  if (progress.refused > 0) text += fmt::format(", {} left out", progress.refused);
  if (progress.done == progress.planned) return text;
  if (progress.left) text += fmt::format(", {} left", time_text(*progress.left));
  if (!progress.doing.empty()) text += ", " + progress.doing;
  return text;
}

void SweepBar::show(const SweepProgress& progress) {
  if (quiet_) return;
  if (context_.terminal) {
    context_.err << kClearLine << "hypermile: " << bar_text(progress) << "\r" << std::flush;
    shown_ = true;
    return;
  }
  if (progress.planned == 0) return;
  const std::size_t tenths = progress.done * 10 / progress.planned;
  if (tenths <= tenths_) return;
  tenths_ = tenths;
  context_.err << "hypermile: " << bar_text(progress) << std::endl;
}

void SweepBar::say(const std::string& line) {
  clear();
  context_.err << "hypermile: " << line << std::endl;
}

void SweepBar::clear() {
  if (shown_) context_.err << kClearLine << std::flush;
  shown_ = false;
}

}  // namespace hypermile
