// SPDX-License-Identifier: Apache-2.0
#include "cli/summary_table.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace hypermile {
namespace {

std::string with_error(const Estimate& estimate, double scale, int digits) {
  const std::string mean = fmt::format("{:.{}f}", estimate.mean * scale, digits);
  if (!estimate.error) return mean;
  return fmt::format("{} ± {:.{}f}", mean, *estimate.error * scale, digits);
}

std::string percent(const std::optional<double>& share, bool is_base) {
  if (!share || is_base) return "-";
  return fmt::format("{:+.1f} %", *share * 100);
}

nlohmann::json estimate_json(const Estimate& estimate) {
  nlohmann::json j = {{"mean", estimate.mean}};
  if (estimate.error) j["error"] = *estimate.error;
  return j;
}

}  // namespace

std::string summary_table(const std::vector<SettingSummary>& summaries) {
  std::string out = fmt::format("{:<24} {:>16} {:>16} {:>16} {:>10} {:>10} {:>8}\n", "Setting",
                                "ms/iteration", "W", "J/iteration", "time", "energy", "windows");
  for (const SettingSummary& s : summaries) {
    const auto energy_change = s.saved ? std::optional(-*s.saved) : std::nullopt;
    out += fmt::format("{:<24} {:>16} {:>16} {:>16} {:>10} {:>10} {:>8}\n", to_string(s.setting),
                       with_error(s.time_s, 1e3, 2), with_error(s.power_w, 1, 1),
                       with_error(s.energy_j, 1, 2), percent(s.slowdown, s.setting.empty()),
                       percent(energy_change, s.setting.empty()), s.windows);
  }
  return out;
}

nlohmann::json summary_json(const std::vector<SettingSummary>& summaries) {
  nlohmann::json list = nlohmann::json::array();
  for (const SettingSummary& s : summaries) {
    nlohmann::json j = {{"setting", to_string(s.setting)},
                        {"windows", s.windows},
                        {"unusable_windows", s.unusable_windows},
                        {"time_per_iteration_s", estimate_json(s.time_s)},
                        {"power_w", estimate_json(s.power_w)},
                        {"energy_per_iteration_j", estimate_json(s.energy_j)}};
    if (s.slowdown) j["slowdown_pct"] = *s.slowdown * 100;
    if (s.saved) j["saved_pct"] = *s.saved * 100;
    list.push_back(std::move(j));
  }
  return {{"settings", std::move(list)}};
}

}  // namespace hypermile
