// SPDX-License-Identifier: Apache-2.0
//
// `hypermile run --nodes-from torchrun -- torchrun …`: becomes hypermile-agent, which runs the
// command on this host and decides with the agents of the job's other hosts. Only it links gRPC.
#pragma once

#include "cli/command.h"

namespace hypermile {

// The words to start the agent with. kUsage for an option of `run` that an agent does not have.
Result<std::vector<std::string>> agent_words(const CommandArguments& arguments);

// Does not return where the agent could be started.
Result<void> become_agent(const CommandArguments& arguments, CommandContext& context);

}  // namespace hypermile
