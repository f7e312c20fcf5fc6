// SPDX-License-Identifier: Apache-2.0
//
// The environment variables that a program is started with. Changes are made to this copy and reach
// a job when it is started with it; hypermile's own environment is never edited.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hypermile {

class Environment {
 public:
  Environment() = default;
  // `variables` as in environ: NAME=VALUE each, ended by nullptr. Entries without '=' are skipped;
  // of a name that occurs twice the first counts, as with getenv.
  static Environment from(const char* const* variables);

  std::optional<std::string> get(std::string_view name) const;
  bool has(std::string_view name) const { return get(name).has_value(); }
  void set(std::string_view name, std::string value);
  void unset(std::string_view name);

  // All variables, as NAME=VALUE each.
  std::vector<std::string> strings() const;

 private:
  std::map<std::string, std::string, std::less<>> variables_;
};

}  // namespace hypermile
