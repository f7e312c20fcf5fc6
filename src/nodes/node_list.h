// SPDX-License-Identifier: Apache-2.0
//
// Slurm's lists of nodes, as SLURM_STEP_NODELIST holds them: "n[0-3,7],gpu-[001-004]-ib,login".
// The agent expands its own, so that it needs neither libslurm nor a call of scontrol.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hypermile {

inline constexpr std::size_t kMostNodes = 65'536;

// The names in order; leading zeros are kept. kParse where a bracket is not closed, a range is
// broken or runs backwards, or there are more than kMostNodes.
Result<std::vector<std::string>> expand_node_list(std::string_view text);

}  // namespace hypermile
