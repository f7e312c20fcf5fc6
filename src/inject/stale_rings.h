// SPDX-License-Identifier: Apache-2.0
//
// Removes folders of rings that nobody uses any more: a `hypermile` that was killed could not
// remove its own, and shared memory is scarce. `run` and `doctor` call this before they begin.
// Nothing here fails: what cannot be removed stays.
#pragma once

#include <cstddef>
#include <string>

namespace hypermile {

// Removes this user's folders that no hypermile holds (see RingFolder) and in which no living
// process has a ring; a job may outlive its hypermile, and another one may attach. Returns how many
// were removed. Processes of another pid namespace look dead here: they keep their mapped memory,
// and could not be attached to from here anyway.
std::size_t remove_stale_rings();
// The same for the folders below `parent`.
std::size_t remove_stale_rings(const std::string& parent);

}  // namespace hypermile
