// SPDX-License-Identifier: Apache-2.0
#include "policy/objective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/nearest.h"
#include "base/parse.h"

namespace hypermile {

std::optional<double> effective_bound(const Objective& objective) {
  if (!objective.max_slowdown) return std::nullopt;
  return std::max(*objective.max_slowdown, kNoMeasurableSlowdown);
}

double score(const Objective& objective, double time_ratio, double power_ratio,
             Watts default_power) {
  return score_of(objective, time_ratio, power_ratio, default_power);
}

double saved_share(const Objective& objective, double time_ratio, double power_ratio,
                   Watts default_power) {
  Objective measure = objective;
  if (measure.goal == Goal::kPerformance) measure.goal = Goal::kEnergy;
  return 1 - score(measure, time_ratio, power_ratio, default_power);
}

Result<Objective> parse_objective(std::string_view text) {
  static const std::vector<std::string> kNames = {"energy", "edp", "ed2p", "cost:ETA",
                                                  "performance:SAVE%"};
  Objective objective;
  if (text == "energy") return objective;
  objective.max_slowdown.reset();
  if (text == "edp") {
    objective.goal = Goal::kEdp;
    return objective;
  }
  if (text == "ed2p") {
    objective.goal = Goal::kEd2p;
    return objective;
  }
  if (text.starts_with("cost:")) {
    const Result<double> eta = parse_number(text.substr(5));
    if (!eta || *eta < 0 || *eta > 1) {
      return Error{ErrorCode::kUsage, fmt::format("objective '{}': ETA must be 0 to 1", text),
                   "write cost:0.5; 1 weighs energy alone, 0 time alone"};
    }
    objective.goal = Goal::kCost;
    objective.eta = *eta;
    return objective;
  }
  constexpr std::string_view kPerformance = "performance:";
  if (text.starts_with(kPerformance)) {
    const Result<double> save = parse_fraction(text.substr(kPerformance.size()));
    if (!save || *save <= 0 || *save >= 1) {
      return Error{ErrorCode::kUsage,
                   fmt::format("objective '{}': SAVE must be above 0 % and below 100 %", text),
                   "write performance:5%: the fastest setting that saves 5 % of the energy"};
    }
    objective.goal = Goal::kPerformance;
    objective.least_saving = *save;
    return objective;
  }
  return Error{ErrorCode::kUsage, fmt::format("unknown objective '{}'", text),
               suggestion(text, kNames)};
}

std::string to_string(const Objective& objective) {
  switch (objective.goal) {
    case Goal::kEnergy:
      return "energy";
    case Goal::kEdp:
      return "edp";
    case Goal::kEd2p:
      return "ed2p";
    case Goal::kCost:
      return fmt::format("cost:{:g}", objective.eta);
    case Goal::kPerformance:
      return fmt::format("performance:{:g}%", 100 * objective.least_saving);
  }
  return "energy";
}

std::map<std::string, std::string> describe(const Objective& objective) {
  std::map<std::string, std::string> words = {
      {"objective", to_string(objective)},
      {"host_watts", fmt::format("{}", objective.host_power.value())}};
  if (const auto bound = effective_bound(objective)) {
    words["max_slowdown"] = fmt::format("{:g}", *bound);
  }
  return words;
}

}  // namespace hypermile
