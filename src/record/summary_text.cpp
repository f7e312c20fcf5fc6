// SPDX-License-Identifier: Apache-2.0
#include "record/summary_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/terminal_text.h"
#include "record/figures_text.h"

namespace hypermile {
namespace {

std::string first_line(const RunDigest& run) {
  std::string text =
      run.end()
          ? fmt::format("hypermile: {}, after {:.1f} s with exit code {}",
                        run.end()->reason.empty() ? "the run ended" : run.end()->reason,
                        run.now_s(), run.end()->exit_code)
          : fmt::format("hypermile: the log ends after {:.1f} s, before its run did", run.now_s());
  for (std::size_t i = 0; i < run.gpus().size(); ++i) {
    const WatchedGpu& gpu = *run.gpus()[i];
    const auto energy = run.figures().energy(gpu.identity.uuid);
    text += fmt::format("; GPU {}{}", gpu.identity.index.value_or(static_cast<int>(i)),
                        gpu.identity.name.empty() ? "" : " (" + gpu.identity.name + ")");
    if (energy) text += fmt::format(" used {:.0f} J", energy->value());
  }
  return text + "\n";
}

}  // namespace

std::string measured_text(const RunDigest& run) {
  std::string text = first_line(run);
  if (const std::string job = job_text(run.figures().job()); !job.empty()) {
    text += "  " + job + "\n";
  }
  if (const auto bill = run.figures().bill()) text += "  " + bill_text(*bill) + "\n";
  const std::vector<JobPhase> phases = run.figures().job_phases();
  for (const JobPhase& phase : phases) {
    const std::string label = phases.size() > 1 ? fmt::format("phase {}: ", phase.phase) : "";
    text += default_text(phase, label) + kept_text(phase, label) + tried_text(phase);
  }
  if (!run.states().empty()) {
    std::string state = run.states().last().state;
    std::ranges::replace(state, '_', ' ');
    text += fmt::format("  last state '{}'{}\n", state,
                        run.state_reason().empty() ? "" : ": " + run.state_reason());
  }
  return text;
}

std::string fitted(std::string_view text) {
  constexpr std::size_t kDeeper = 4;
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    out += std::string(line.substr(0, indent));
    out += wrapped(line.substr(indent), indent + kDeeper, indent) + "\n";
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return out;
}

std::string summary_text(const RunDigest& run) {
  if (!run.end() || run.end()->summary.empty()) return measured_text(run);
  std::string text;
  for (const std::string& line : run.end()->summary) text += line + "\n";
  return text;
}

}  // namespace hypermile
