// SPDX-License-Identifier: Apache-2.0
//
// What the Python package needs of tick.cpp beside include/hypermile.h: a process that comes to be
// watched after it has begun, and one that knows its GPU without CUDA telling us.
#pragma once

#include <cstdint>

namespace hypermile {

// HYPERMILE_RING_DIR has been set meanwhile: the next tick looks at it, whatever earlier ones
// found. A ring that is there stays.
void listen_again();

// This process trains on CUDA device `device`. Nothing where nobody listens.
void tell_device(std::uint32_t device);

}  // namespace hypermile
