// SPDX-License-Identifier: Apache-2.0
#include "run/environment_variables.h"

#include <fmt/format.h>

namespace hypermile {

Environment Environment::from(const char* const* variables) {
  Environment environment;
  for (; variables != nullptr && *variables != nullptr; ++variables) {
    const std::string_view text(*variables);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    environment.variables_.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

std::optional<std::string> Environment::get(std::string_view name) const {
  const auto found = variables_.find(name);
  return found != variables_.end() ? std::optional(found->second) : std::nullopt;
}

void Environment::set(std::string_view name, std::string value) {
  variables_.insert_or_assign(std::string(name), std::move(value));
}

void Environment::unset(std::string_view name) {
  const auto found = variables_.find(name);
  if (found != variables_.end()) variables_.erase(found);
}

std::vector<std::string> Environment::strings() const {
  std::vector<std::string> strings;
  strings.reserve(variables_.size());
  for (const auto& [name, value] : variables_) strings.push_back(fmt::format("{}={}", name, value));
  return strings;
}

}  // namespace hypermile
