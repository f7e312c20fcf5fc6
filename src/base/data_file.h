// SPDX-License-Identifier: Apache-2.0
//
// Finds files that come with the program (workloads, GPU sheets, models), both for an installed
// program and for one run from its build folder. Any thread may call it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hypermile {

// `relative` is a path as in the source tree, for example "workloads/demo_sweep.csv". Searches
// $HYPERMILE_DATA, then PREFIX/share/hypermile beside the program, then the tree in which the
// program was built. kNotFound if no place has it.
Result<std::string> find_data_file(std::string_view relative);

}  // namespace hypermile
