// SPDX-License-Identifier: Apache-2.0
//
// Where steps told by NVTX meet launches: the next launch of the calling thread is where the step
// begins on the GPU.
#pragma once

#include <cstdint>

namespace hypermile {

// The step's record has `number` in the ring of this process. Any time; without CUDA it is nothing.
void mark_step(std::uint64_t number, std::uint64_t now_ns);

}  // namespace hypermile
