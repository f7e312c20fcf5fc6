// SPDX-License-Identifier: Apache-2.0
//
// `hypermile sweep --layers`: measures single layers at a grid of settings. On a simulated card it
// writes what a profile of a network would show. On a card of this machine it runs a command that
// calls hypermile.profile_layers(), which takes the grid and the file from the environment and
// measures under a lease of its own. Called by sweep.cpp.
#pragma once

#include "cli/command.h"

namespace hypermile {

// `arguments.positional` is the network of a simulated card, or the command. The command replaces
// this process, so that its output, signals and exit code are its own.
Result<void> sweep_layers(const CommandArguments& arguments, CommandContext& context);

}  // namespace hypermile
