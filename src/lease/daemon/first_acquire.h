// SPDX-License-Identifier: Apache-2.0
//
// Finds out which GPUs a guardian must keep when it starts before its job: those that its owner
// first requests. It keeps no other GPU, so that the guardians of other jobs can.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/identifiers.h"
#include "base/result.h"
#include "lease/daemon/event_loop.h"

namespace hypermile {

// The GPUs of the request that `held` begins with; nullopt while it is incomplete. kUsage for a
// whole request of another kind, kParse for bytes that are no request.
Result<std::optional<std::vector<GpuUuid>>> read_first_acquire(std::string_view held);

// The same for what has arrived on `socket`, where it stays for the Server to answer. kIo when the
// owner closed the connection without a request.
Result<std::optional<std::vector<GpuUuid>>> peek_first_acquire(int socket);

// Calls `asked` once from the loop, with the GPUs or with the reason why there are none. The owner
// may take any time to begin its request, and 2 s to complete it (kTimeout).
void await_first_acquire(EventLoop& loop, Clock& clock, int socket,
                         std::function<void(Result<std::vector<GpuUuid>>)> asked);

}  // namespace hypermile
