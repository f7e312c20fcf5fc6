// SPDX-License-Identifier: Apache-2.0
#include "record/summary_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hypermile {
namespace {

constexpr double kJoulesPerWattHour = 3600;
constexpr double kInterval95 = 1.96;  // standard errors

std::string number(double value, const std::optional<double>& error, const char* unit) {
  const double size = std::abs(value);
  const int digits = size < 1 ? 4 : size < 100 ? 2 : 1;
  std::string text = fmt::format("{:.{}f}", value, digits);
  if (error) text += fmt::format(" ± {:.{}f}", kInterval95 * *error, digits);
  return fmt::format("{} {}", text, unit);
}

std::string percent(double share, const std::optional<double>& error) {
  std::string text = fmt::format("{:.1f}", 100 * share);
  if (error) text += fmt::format(" ± {:.1f}", 100 * kInterval95 * *error);
  return text + " %";
}

std::optional<double> scaled(const std::optional<double>& error, double scale) {
  return error ? std::optional(*error * scale) : std::nullopt;
}

// "54.62 ± 0.03 ms and 33.10 ± 0.20 J an iteration, from 9 windows"
std::string cost_of(const SettingDigest& measured) {
  const WeighedMean time = measured.time_s.estimate(), energy = measured.energy_j.estimate();
  const double scale = time.mean < 1 ? 1e3 : 1;
  return fmt::format("{} and {} an iteration, from {} windows",
                     number(scale * time.mean, scaled(time.error, scale), scale > 1 ? "ms" : "s"),
                     number(energy.mean, energy.error, "J"), measured.windows);
}

std::string change_of(const ComparedSetting& compared) {
  return fmt::format("{} energy saved, {} slower", percent(compared.saved, compared.saved_error),
                     percent(compared.slowdown, compared.slowdown_error));
}

std::string text_of(const MeasuredPhase& phase, const std::string& label) {
  std::string text;
  if (const SettingDigest* usual = phase.find({})) {
    text += fmt::format("    {}default: {}\n", label, cost_of(*usual));
  }
  if (phase.kept && !phase.kept->empty() && phase.find(*phase.kept) != nullptr) {
    text += fmt::format("    {}kept {}: {}\n", label, to_string(*phase.kept),
                        cost_of(*phase.find(*phase.kept)));
    if (const auto compared = phase.compare(*phase.kept)) {
      text += fmt::format("      {}\n", change_of(*compared));
    }
  }
  std::vector<std::string> tried;
  for (const SettingDigest& each : phase.settings) {
    if (each.setting.empty() || each.setting == phase.kept || each.windows == 0) continue;
    const auto compared = phase.compare(each.setting);
    tried.push_back(compared ? fmt::format("{} ({})", to_string(each.setting), change_of(*compared))
                             : to_string(each.setting));
  }
  if (!tried.empty()) text += fmt::format("      tried: {}\n", fmt::join(tried, "; "));
  return text;
}

std::string text_of(const WatchedGpu& gpu, std::size_t number_of_gpu) {
  std::string text =
      fmt::format("  GPU {}{}", gpu.identity.index.value_or(static_cast<int>(number_of_gpu)),
                  gpu.identity.name.empty() ? "" : " (" + gpu.identity.name + ")");
  if (const auto energy = gpu.energy()) text += fmt::format(" used {:.0f} J", energy->value());
  text += "\n";
  const auto measured = std::ranges::count_if(
      gpu.phases, [](const MeasuredPhase& phase) { return !phase.settings.empty(); });
  for (const MeasuredPhase& phase : gpu.phases) {
    text += text_of(phase, measured > 1 ? fmt::format("process {}, phase {}: ", phase.process,
                                                      phase.pattern.phase)
                                        : "");
  }
  return text;
}

// Of all GPUs and phases; "" where nothing was measured off the default.
std::string saved_text(const RunDigest& run) {
  double joules = 0, iterations = 0;
  for (const auto& gpu : run.gpus()) {
    for (const MeasuredPhase& phase : gpu->phases) {
      const auto saved = phase.saved_j();
      if (!saved) continue;
      joules += *saved;
      for (const SettingDigest& each : phase.settings) {
        if (!each.setting.empty()) iterations += each.iterations;
      }
    }
  }
  if (iterations <= 0) return "";
  return fmt::format(
      "  saved {:.0f} J ({:.3f} Wh) in the {:.0f} iterations measured off the default, its search "
      "included\n",
      joules, joules / kJoulesPerWattHour, iterations);
}

}  // namespace

std::string measured_text(const RunDigest& run) {
  std::string text =
      run.end() ? fmt::format("hypermile: {}, after {:.1f} s with {}\n",
                              run.end()->reason.empty() ? "the run ended" : run.end()->reason,
                              run.lasted_s(), run.end()->exit_code)
                : fmt::format("hypermile: the log ends after {:.1f} s, before its run did\n",
                              run.lasted_s());
  for (std::size_t i = 0; i < run.gpus().size(); ++i) text += text_of(*run.gpus()[i], i);
  text += saved_text(run);
  if (!run.states().empty()) {
    std::string state = run.states().last().state;
    std::ranges::replace(state, '_', ' ');
    text += fmt::format("  last state '{}'{}\n", state,
                        run.state_reason().empty() ? "" : ": " + run.state_reason());
  }
  return text;
}

std::string summary_text(const RunDigest& run) {
  if (!run.end() || run.end()->summary.empty()) return measured_text(run);
  std::string text;
  for (const std::string& line : run.end()->summary) text += line + "\n";
  return text;
}

}  // namespace hypermile
