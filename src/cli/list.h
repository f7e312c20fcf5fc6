// SPDX-License-Identifier: Apache-2.0
//
// The names that options take: policies, workloads, simulated GPUs, networks. `hypermile list`
// prints them, and the shells complete them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hypermile {

struct ListedName {
  std::string name;
  std::string title;  // one line; "" where there is nothing to say
};

// "gpus", "networks", "policies", "workloads".
std::span<const std::string_view> list_kinds();
// Sorted as reports sort them; empty for an unknown kind, and where no data is installed.
std::vector<ListedName> names_of(std::string_view kind);

}  // namespace hypermile
