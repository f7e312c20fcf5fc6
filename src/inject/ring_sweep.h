// SPDX-License-Identifier: Apache-2.0
//
// Folders of rings that nobody uses any more: a `hypermile` that was killed could not remove its
// own, and shared memory is too dear to be left full. `run` and `doctor` sweep before they begin.
#pragma once

#include <cstddef>
#include <string>

namespace hypermile {

// Removes this user's folders that no hypermile holds (RingFolder) and in which no living process
// has a ring: a job outlives the hypermile that watched it, and may be attached to again. Says how
// many. What cannot be removed, and whatever is not such a folder, is left as it is. A process of
// another pid namespace does not show; what it has mapped stays its own, and it cannot be attached
// to from here anyway.
std::size_t sweep_ring_folders();
// Those below one folder.
std::size_t sweep_ring_folders(const std::string& parent);

}  // namespace hypermile
