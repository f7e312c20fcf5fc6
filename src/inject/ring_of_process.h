// SPDX-License-Identifier: Apache-2.0
//
// The one ring of a process, shared by what watches launches and what watches NVTX ranges:
// whichever comes first makes it.
#pragma once

#include "inject/ring_writer.h"

namespace hypermile {

// False when there can be none. Any thread, any number of times.
bool open_ring_of_process();

RingWriter& ring_of_process();

}  // namespace hypermile
