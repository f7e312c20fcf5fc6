// SPDX-License-Identifier: Apache-2.0
#include "record/figures_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

namespace hypermile {
namespace {

// "10.3 ± 0.8 %", without a sign: the words around it tell the direction.
std::string percent(const Estimate& change) {
  std::string text = fmt::format("{:.1f}", 100 * std::abs(change.value));
  if (change.half_width95) text += fmt::format(" ± {:.1f}", 100 * *change.half_width95);
  return text + " %";
}

}  // namespace

std::string amount_text(const Estimate& amount, const char* unit) {
  const double size = std::abs(amount.value);
  const int digits = size < 1 ? 4 : size < 100 ? 2 : 1;
  std::string text = fmt::format("{:.{}f}", amount.value, digits);
  if (amount.half_width95) text += fmt::format(" ± {:.{}f}", *amount.half_width95, digits);
  return fmt::format("{} {}", text, unit);
}

std::string duration_text(const Estimate& seconds) {
  if (seconds.value < 1) return amount_text(scaled(seconds, 1e3), "ms");
  return amount_text(seconds, "s");
}

std::string energy_text(const Estimate& change) {
  if (change.value > 0) return fmt::format("used {} more energy", percent(change));
  return percent(change) + " energy saved";
}

std::string time_text(const Estimate& change) {
  return percent(change) + (change.value < 0 ? " faster" : " slower");
}

std::string cost_text(const SettingCost& cost) {
  std::vector<std::string> parts;
  if (cost.time_s) parts.push_back(duration_text(*cost.time_s));
  if (cost.energy_j) parts.push_back(amount_text(*cost.energy_j, "J"));
  return fmt::format("{} an iteration, from {} windows", fmt::join(parts, " and "), cost.windows);
}

std::string change_text(const SettingCost& cost) {
  std::vector<std::string> parts;
  if (cost.energy_change) parts.push_back(energy_text(*cost.energy_change));
  if (cost.time_change) parts.push_back(time_text(*cost.time_change));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string job_text(const JobTotals& job) {
  std::vector<std::string> parts;
  if (job.energy_change) {
    parts.push_back(fmt::format("{} ({:.0f} J instead of {:.0f} J)",
                                energy_text(*job.energy_change), *job.joules, *job.default_joules));
  }
  if (job.time_change) {
    parts.push_back(fmt::format("{} ({:.1f} s instead of {:.1f} s)", time_text(*job.time_change),
                                job.seconds, *job.default_seconds));
  }
  if (parts.empty()) return "";
  return fmt::format("the whole job, search included, against {}: {}",
                     job.against_default_run ? "a run at the default" : "the default",
                     fmt::join(parts, ", "));
}

std::string job_short_text(const JobTotals& job) {
  std::vector<std::string> parts;
  if (job.energy_change) {
    const double joules = std::abs(job.saved_j->value);
    const double share = 100 * std::abs(job.energy_change->value);
    parts.push_back(job.saved_j->value < 0
                        ? fmt::format("used {:.0f} J more ({:.1f} %)", joules, share)
                        : fmt::format("saved {:.0f} J ({:.1f} %)", joules, share));
  }
  if (job.time_change) parts.push_back(time_text({job.time_change->value, std::nullopt}));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string default_text(const JobPhase& phase, const std::string& label) {
  const SettingCost* usual = phase.at({});
  return usual != nullptr ? fmt::format("    {}default: {}\n", label, cost_text(*usual)) : "";
}

std::string kept_text(const JobPhase& phase, const std::string& label) {
  if (!phase.kept || (phase.kept->setting.empty() && phase.kept_each.empty())) return "";
  std::vector<std::string> settings;
  for (const Setting& each : phase.kept_each) settings.push_back(to_string(each));
  if (settings.empty()) settings.push_back(to_string(phase.kept->setting));
  std::string text =
      fmt::format("    {}kept {}: {}\n", label, fmt::join(settings, ", "), cost_text(*phase.kept));
  if (const std::string change = change_text(*phase.kept); !change.empty()) {
    text += fmt::format("      at the kept setting, per iteration: {}\n", change);
  }
  return text;
}

std::string tried_text(const JobPhase& phase) {
  std::vector<std::string> tried;
  for (const SettingCost& each : phase.settings) {
    if (each.setting.empty() || each.kept) continue;
    const std::string change = change_text(each);
    tried.push_back(change.empty() ? to_string(each.setting)
                                   : fmt::format("{} ({})", to_string(each.setting), change));
  }
  return tried.empty() ? "" : fmt::format("      tried: {}\n", fmt::join(tried, "; "));
}

}  // namespace hypermile
