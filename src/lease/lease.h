// SPDX-License-Identifier: Apache-2.0
//
// A lease is the right of one owner to change certain GPUs for a while, within bounds. These plain
// values are shared by the lease table, the wire format and the tools that show leases. Only
// within_bounds() can fail.
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
// A lease ends with its owner's connection. The daemon numbers connections and never reuses a
// number.
using ConnectionId = std::uint64_t;

struct Owner {
  ConnectionId connection = 0;
  std::int64_t pid = 0;   // as reported by the kernel, not by the client
  std::uint32_t uid = 0;  // as reported by the kernel, not by the client
  std::string program;    // the client's name for itself
  std::string job;        // job of a batch system, or empty
};
std::string to_string(const Owner& owner);  // "python3 (pid 42, uid 1000, job 7)"

// In MHz or W; both ends are allowed values.
struct KnobRange {
  double min = 0;
  double max = std::numeric_limits<double>::infinity();
  bool operator==(const KnobRange&) const = default;
};

// What a lease may request on one GPU. A knob without a range may not be changed.
struct Bounds {
  std::optional<KnobRange> sm_clock = {};
  std::optional<KnobRange> memory_clock = {};
  std::optional<KnobRange> power_limit = {};
  bool clamp = false;  // move a value outside to the nearest end instead of refusing it

  const std::optional<KnobRange>& range(Knob knob) const;
};

// Returns `wanted` as it may be applied. kPermission names the knob, the request and what is
// allowed. A clamped clock becomes one that the card supports.
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
  double since_unix = 0;  // wall-clock time, shown to people
  Instant expires;        // postponed by every renewal
};

enum class LeaseEnd {
  kReleased,
  kOwnerGone,    // the connection closed, or the process ended
  kExpired,      // not renewed in time
  kUnreachable,  // a GPU of the lease did not answer, so all its GPUs return to the default
  kReset,        // by the administrator's reset
  kStopped,      // the daemon stopped
};
std::string_view to_string(LeaseEnd end);

}  // namespace hypermile
