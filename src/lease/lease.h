// SPDX-License-Identifier: Apache-2.0
//
// A lease: the right of one owner to change some GPUs for a while, within bounds. These are its
// plain facts, shared by the table of leases, the wire format and the tools that show them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/identifiers.h"
#include "base/result.h"
#include "gpu/gpu.h"
#include "gpu/setting.h"

namespace hypermile {

using LeaseId = std::uint64_t;
// What ends with the owner: the daemon numbers its connections and never uses a number again.
using ConnectionId = std::uint64_t;

struct Owner {
  ConnectionId connection = 0;
  std::int64_t pid = 0;   // as the kernel says, not the client
  std::uint32_t uid = 0;  // likewise
  std::string program;    // what the client calls itself
  std::string job;        // a batch system's job, or empty
};
std::string to_string(const Owner& owner);  // "python3 (pid 42, uid 1000, job 7)"

// In MHz or W, both ends allowed.
struct KnobRange {
  double min = 0;
  double max = std::numeric_limits<double>::infinity();
  bool operator==(const KnobRange&) const = default;
};

// What a lease may ask of one GPU. A knob without a range may not be touched: default deny.
struct Bounds {
  std::optional<KnobRange> sm_clock = {};
  std::optional<KnobRange> memory_clock = {};
  std::optional<KnobRange> power_limit = {};
  bool clamp = false;  // bring what lies outside to the nearest end, rather than refuse it

  const std::optional<KnobRange>& range(Knob knob) const;
};

// `wanted` as it may be applied; kPermission names the knob, what was asked and what is allowed. A
// clock that is clamped becomes one that the card supports.
Result<Setting> within_bounds(const Setting& wanted, const Bounds& bounds, const Capabilities& can);

struct LeasedGpu {
  GpuUuid uuid;
  Bounds bounds;
};

struct Lease {
  LeaseId id = 0;
  Owner owner;
  std::vector<LeasedGpu> gpus;
  Seconds ttl;
  Instant since;
  double since_unix = 0;  // for people
  Instant expires;        // moved on by every renewal
};

enum class LeaseEnd {
  kReleased,
  kOwnerGone,    // hung up, or its process is gone
  kExpired,      // not renewed in time
  kUnreachable,  // a GPU of it did not answer: fail towards fast
  kReset,        // by the administrator
  kStopped,      // the daemon stops
};
std::string_view to_string(LeaseEnd end);

}  // namespace hypermile
