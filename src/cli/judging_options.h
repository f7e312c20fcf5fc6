// SPDX-License-Identifier: Apache-2.0
//
// Options of the commands that judge policies: what to minimise, which knobs may move, which
// policies to compare.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "gpu/setting.h"
#include "policy/objective.h"

namespace hypermile {

// --objective, --max-slowdown, --host-watts, --power-budget.
Result<Objective> read_objective(const OptionValues& values);
// --knobs; empty where the option is not given.
Result<std::vector<Knob>> read_knobs(const OptionValues& values);
// --policy; "all" is every policy of the table except fixed:…, which needs a setting.
std::vector<std::string> read_policies(const OptionValues& values);

}  // namespace hypermile
