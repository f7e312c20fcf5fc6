// SPDX-License-Identifier: Apache-2.0
//
// What the Python package needs of tick.cpp besides include/hypermile.h: for a process that is
// watched only after it has started, and for one that knows its GPU without CUDA.
#pragma once

#include <cstdint>

namespace hypermile {

// Call after setting HYPERMILE_RING_DIR: the next tick reads it, whatever earlier ticks found. A
// ring that exists already stays.
void listen_again();

// Says that this process trains on CUDA device `device`. Does nothing if nobody listens.
void tell_device(std::uint32_t device);

}  // namespace hypermile
