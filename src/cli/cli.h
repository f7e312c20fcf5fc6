// SPDX-License-Identifier: Apache-2.0
//
// `hypermile …`: finds the command, reads its options, runs it, and turns an Error into one line
// and an exit code: 0 for success, 2 for bad usage, 1 for any other failure. A command that ran a
// job returns the job's exit code.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.h"

namespace hypermile {

// In the order of the overview.
std::span<const Command* const> all_commands();

// `arguments` without the program's name.
int run_cli(const std::vector<std::string>& arguments, CommandContext& context);

}  // namespace hypermile
