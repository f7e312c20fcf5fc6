// SPDX-License-Identifier: Apache-2.0
//
// `--dry-run`: what run or attach would do with these options on this machine, and with which
// rights. Opens GPUs to read what they can do; starts, asks and changes nothing.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/control_options.h"
#include "run/environment.h"

namespace hypermile {

struct DryRunJob {
  std::vector<std::string> command;  // that would be run; empty: one that runs already
  std::string user;                  // whom it would run as; "" for the caller
};

Result<void> print_dry_run(const DryRunJob& job, const ControlChoice& choice,
                           const OptionValues& options, const Environment& environment,
                           CommandContext& context);

}  // namespace hypermile
