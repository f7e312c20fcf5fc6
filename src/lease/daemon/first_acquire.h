// SPDX-License-Identifier: Apache-2.0
//
// Finds out which GPUs a guardian must keep when it starts before its job: those that its owner
// first requests. It keeps no other GPU, so that the guardians of other jobs can.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/identifiers.h"
#include "base/result.h"
#include "lease/daemon/event_loop.h"

namespace hypermile {

// The GPUs of the first request on `socket`, which stays there for the Server to answer. Empty if
// it is not a valid acquire request; nullopt until it has arrived completely; kIo when the owner
// closed the connection without one.
Result<std::optional<std::vector<GpuUuid>>> peek_first_acquire(int socket);

// Calls `asked` once from the loop, with the GPUs or with the reason why there are none.
void await_first_acquire(EventLoop& loop, Clock& clock, int socket,
                         std::function<void(Result<std::vector<GpuUuid>>)> asked);

}  // namespace hypermile
