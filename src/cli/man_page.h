// SPDX-License-Identifier: Apache-2.0
//
// Manual pages in roff, made from the tables of commands and options, so that a new command or
// option needs no work here. `hypermile --man [COMMAND]` prints one; the build installs all.
#pragma once

#include <span>
#include <string>

#include "cli/command.h"

namespace hypermile {

// hypermile(1), which lists the commands.
std::string man_page(std::span<const Command* const> commands);
// hypermile-COMMAND(1).
std::string man_page(const Command& command);

}  // namespace hypermile
