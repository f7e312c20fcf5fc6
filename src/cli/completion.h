// SPDX-License-Identifier: Apache-2.0
//
// Completion for shells, made from the table of commands and the table of options, so that a new
// command or option is completed by itself. `hypermile --completion SHELL` prints a script; the
// build installs all three. What stands after -- is the job's and is completed as a command.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "cli/command.h"

namespace hypermile {

// For "bash", "zsh" or "fish"; kUsage for another.
Result<std::string> completion(std::string_view shell, std::span<const Command* const> commands);

}  // namespace hypermile
