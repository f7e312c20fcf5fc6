// SPDX-License-Identifier: Apache-2.0
//
// Which GPUs a guardian is for, where it was started before its job: those that its owner first
// asks for. A GPU that no lease was asked for is not kept, so that other jobs' guardians can.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/identifiers.h"
#include "base/result.h"
#include "lease/daemon/event_loop.h"

namespace hypermile {

// What the first request on `socket` names. The request is left there for the Server to answer.
// Empty for one that is no acquire or makes no sense; nullopt while none has come whole; kIo when
// the owner has hung up without one.
Result<std::optional<std::vector<GpuUuid>>> peek_first_acquire(int socket);

// Calls `asked` from the loop, once, with the GPUs or why there will be none.
void await_first_acquire(EventLoop& loop, Clock& clock, int socket,
                         std::function<void(Result<std::vector<GpuUuid>>)> asked);

}  // namespace hypermile
