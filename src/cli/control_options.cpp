// SPDX-License-Identifier: Apache-2.0
#include "cli/control_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/nearest.h"
#include "cli/judging_options.h"
#include "policy/policies.h"

namespace hypermile {
namespace {

// One policy, of those that need no truth to follow.
Result<std::string> read_policy(const OptionValues& values) {
  const std::vector<std::string> names = values.list("policy");
  if (names.size() != 1 || names.front() == "all" || names.front() == "oracle") {
    return Error{
        ErrorCode::kUsage,
        fmt::format("--policy: one job follows one policy, got '{}'", values.text("policy")),
        "name one, for example hypermile"};
  }
  const std::string& name = names.front();
  std::vector<std::string> known;
  for (const PolicyEntry& entry : policy_table()) known.emplace_back(entry.name);
  if (name.starts_with("fixed:")) {
    RETURN_IF_ERROR(parse_setting(std::string_view(name).substr(6)));
    return name;
  }
  if (std::ranges::find(known, name) != known.end()) return name;
  return Error{ErrorCode::kUsage, fmt::format("--policy: unknown policy '{}'", name),
               suggestion(name, known)};
}

Result<std::optional<std::string>> read_cache(const OptionValues& values) {
  const std::string text = values.text("cache");
  if (text == "no") return std::optional<std::string>();
  if (text != "default") return std::optional(text);
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache != nullptr && *cache == '/')
    return std::optional(std::string(cache) + "/hypermile/jobs.json");
  if (home != nullptr && *home == '/') {
    return std::optional(std::string(home) + "/.cache/hypermile/jobs.json");
  }
  return Error{ErrorCode::kUsage, "--cache: neither XDG_CACHE_HOME nor HOME is set",
               "name a file: --cache jobs.json"};
}

}  // namespace

Result<ControlChoice> read_control_choice(const OptionValues& values) {
  ControlChoice choice;
  choice.observe = values.flag("observe");
  ASSIGN_OR_RETURN(choice.controller.policy, read_policy(values));
  ASSIGN_OR_RETURN(choice.controller.objective, read_objective(values));
  ASSIGN_OR_RETURN(const std::vector<Knob> knobs, read_knobs(values));
  if (!knobs.empty()) choice.controller.knobs = knobs;
  if (values.given("iterations")) {
    choice.controller.job_iterations = static_cast<double>(values.integer("iterations"));
  }
  ASSIGN_OR_RETURN(choice.cache, read_cache(values));
  choice.counters = values.flag("counters");
  if (values.given("model")) choice.model = values.text("model");
  return choice;
}

std::optional<double> allowed_slowdown(const ControlChoice& choice) {
  return choice.observe ? std::nullopt : effective_bound(choice.controller.objective);
}

}  // namespace hypermile
