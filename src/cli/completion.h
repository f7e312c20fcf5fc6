// SPDX-License-Identifier: Apache-2.0
//
// Completion scripts for shells, made from the tables of commands and options, so that a new
// command or option needs no work here. `hypermile --completion SHELL` prints a script; the build
// installs all three. Words after -- are the job's and are completed as a command.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "cli/command.h"

namespace hypermile {

// For "bash", "zsh" or "fish"; kUsage for another shell.
Result<std::string> completion(std::string_view shell, std::span<const Command* const> commands);

}  // namespace hypermile
