// SPDX-License-Identifier: Apache-2.0
//
// The variables a program is started with. An ordinary map in which every change stays our own
// until a job is started with it: hypermile's environment is never edited.
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
  // `variables` as main() and environ have them: NAME=VALUE, ended by nullptr. What holds no '=' is
  // passed over; of a name that occurs twice the first counts, as for getenv.
  static Environment from(const char* const* variables);

  std::optional<std::string> get(std::string_view name) const;
  bool has(std::string_view name) const { return get(name).has_value(); }
  void set(std::string_view name, std::string value);
  void unset(std::string_view name);

  // NAME=VALUE each.
  std::vector<std::string> strings() const;

 private:
  std::map<std::string, std::string, std::less<>> variables_;
};

}  // namespace hypermile
