// SPDX-License-Identifier: Apache-2.0
//
// One variable of this process's environment. An empty value is a value: CUDA_VISIBLE_DEVICES=""
// hides every GPU. The environment of a job is in run/environment_variables.h.
#pragma once

#include <cstdlib>
#include <optional>
#include <string_view>

namespace hypermile {

// nullopt where the variable is not set. The text is valid until the variable is changed.
inline std::optional<std::string_view> environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::optional<std::string_view>(value) : std::nullopt;
}

}  // namespace hypermile
