// SPDX-License-Identifier: Apache-2.0
//
// Connects NVTX steps with launches: on the GPU, a step begins at the next launch of the thread
// that reported it. nvtx_steps.cpp calls it from any thread.
#pragma once

#include <cstdint>

namespace hypermile {

// `number` is the step's record in this process's ring. Does nothing in a process without CUDA.
void mark_step(std::uint64_t number, std::uint64_t now_ns);

}  // namespace hypermile
