// SPDX-License-Identifier: Apache-2.0
//
// Finds files that come with the program (workloads, GPU sheets, models), whether it was installed
// or runs from its build folder.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hypermile {

// `relative` as in the source tree, for example "workloads/demo_sweep.csv". Looked for under
// $HYPERMILE_DATA, PREFIX/share/hypermile beside the program, and the tree the program was built
// in.
Result<std::string> find_data_file(std::string_view relative);

}  // namespace hypermile
