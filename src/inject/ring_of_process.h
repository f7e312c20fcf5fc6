// SPDX-License-Identifier: Apache-2.0
//
// The one ring of this process. The launch watcher and the NVTX watcher share it, and whichever
// comes first makes it.
#pragma once

#include "inject/ring_writer.h"

namespace hypermile {

// False if no ring can be made. Any thread may call it any number of times.
bool open_ring_of_process();

RingWriter& ring_of_process();

}  // namespace hypermile
