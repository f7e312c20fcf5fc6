// SPDX-License-Identifier: Apache-2.0
//
// `hypermile …`: finds the command, reads its options, runs it, turns an Error into one line and an
// exit code. 0 is success, 2 bad usage, 1 any other failure; of a command that ran a job, the
// job's.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/command.h"

namespace hypermile {

// In the order in which they are listed.
std::span<const Command* const> all_commands();

// `arguments` without the program's name.
int run_cli(const std::vector<std::string>& arguments, CommandContext& context);

}  // namespace hypermile
