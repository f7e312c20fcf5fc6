// SPDX-License-Identifier: Apache-2.0
//
// Tells whether the text in a GPU's lock file names a process that lives. GpuKeeper asks when
// somebody else holds the lock: a lock without a keeper must not keep a GPU from being restored.
#pragma once

#include <string_view>

namespace hypermile {

// True if `holder` ends in "(pid N)" and process N is a hypermile or hypermiled. False for a
// process of another pid namespace, which cannot be seen.
bool names_living_keeper(std::string_view holder);

}  // namespace hypermile
