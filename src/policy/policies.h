// SPDX-License-Identifier: Apache-2.0
//
// The one table of policies by name. A new policy is a file beside this one and a line in the
// table.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"

namespace hypermile {

struct PolicyEntry {
  std::string_view name;
  std::string_view summary;  // one line for --help and docs
};

// In the order in which reports list them. "fixed:SETTING" stands for the family.
const std::vector<PolicyEntry>& policy_table();

// kUsage with the nearest names for an unknown policy, for a fixed Setting that is not in the list,
// and for "oracle" where nobody knows the truth.
Result<std::unique_ptr<Policy>> make_policy(std::string_view name, const PolicyContext& context);

}  // namespace hypermile
