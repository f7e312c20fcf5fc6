// SPDX-License-Identifier: Apache-2.0
//
// Manual pages in roff, made from the table of commands and the table of options, so that a new
// command or option has its page by itself. `hypermile --man [COMMAND]` prints one; the build
// installs all.
#pragma once

#include <span>
#include <string>

#include "cli/command.h"

namespace hypermile {

// hypermile(1): what there is.
std::string man_page(std::span<const Command* const> commands);
// hypermile-COMMAND(1).
std::string man_page(const Command& command);

}  // namespace hypermile
