// SPDX-License-Identifier: Apache-2.0
//
// The messages on the daemon's socket, as types: requests of a client, replies of the daemon or of
// a guardian (docs/reference/daemon-protocol.md). Each is one frame. Only encode_* and decode_*
// know the tags. Decoding accepts any bytes, checks every value, and fails with kParse or, for
// another protocol version, kUnsupported.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/identifiers.h"
#include "base/result.h"
#include "base/units.h"
#include "gpu/setting.h"
#include "lease/lease.h"

namespace hypermile {

// A namespace of its own, because some of the names also exist outside.
namespace wire {

inline constexpr std::uint64_t kProtocolVersion = 1;
inline constexpr std::size_t kMostGpus = 64;        // most GPUs in one request
inline constexpr std::size_t kMostNameBytes = 128;  // of a program's or job's name
inline constexpr std::size_t kMostTextBytes = 512;  // of an error message or remedy

// --- requests ---

// Requests the right to change these GPUs, all or none, for as long as it is renewed within `ttl`.
struct AcquireRequest {
  std::vector<GpuUuid> gpus;
  Seconds ttl = Seconds(10);
  std::string program = {};  // the client's name, shown to people
  std::string job = {};      // job of a batch system, or empty
  bool operator==(const AcquireRequest&) const = default;
};
// The new setting for one GPU of the lease. An absent knob returns to its baseline.
struct SetRequest {
  LeaseId lease = 0;
  GpuUuid gpu;
  Setting setting;
  bool operator==(const SetRequest&) const = default;
};
struct RenewRequest {
  LeaseId lease = 0;
  bool operator==(const RenewRequest&) const = default;
};
struct ReleaseRequest {
  LeaseId lease = 0;
  bool operator==(const ReleaseRequest&) const = default;
};
struct ListRequest {
  bool operator==(const ListRequest&) const = default;
};
struct StatusRequest {
  bool operator==(const StatusRequest&) const = default;
};
// For administrators: ends the leases on these GPUs and restores them, changed or not. `close`
// refuses new leases from then on, `reopen` allows them again.
struct ResetRequest {
  std::vector<GpuUuid> gpus = {};  // empty means all
  bool close = false;
  bool reopen = false;
  // The users who held these GPUs get none of them for this long; without it, their processes do
  // not for as long as they live.
  std::optional<Seconds> hold = {};
  bool operator==(const ResetRequest&) const = default;
};

using Request = std::variant<AcquireRequest, SetRequest, RenewRequest, ReleaseRequest, ListRequest,
                             StatusRequest, ResetRequest>;

// --- replies ---

struct Done {};  // answers renew, release and reset
struct Granted {
  LeaseId lease = 0;
  Seconds ttl;                          // may be shorter than requested
  std::optional<Seconds> longest = {};  // the lease ends after this time even if renewed
  // What may be asked for on every GPU of the lease; absent from a daemon older than this field.
  std::optional<Bounds> bounds = {};

  // Whether a request for this Setting can succeed as it stands, as far as the daemon said.
  bool allows(const Setting& setting) const;
};
struct Applied {
  Setting setting;              // in force, perhaps clamped
  std::vector<Error> problems;  // one per knob that failed
};
struct LeasedGpu {
  GpuUuid gpu;
  Setting requested;  // the last setting that was accepted
  bool restoring = false;
};
struct LeaseEntry {
  LeaseId lease = 0;
  std::uint64_t uid = 0;
  std::uint64_t pid = 0;  // 0: the daemon cannot see the process
  std::string program;
  std::string job;
  double since_unix = 0;
  Seconds expires_in;
  std::vector<LeasedGpu> gpus;
};
struct LeaseList {
  std::vector<LeaseEntry> leases;
};
struct GpuStatus {
  GpuUuid gpu;
  bool allowed = false;  // the client may lease it
  std::string trouble;   // why it cannot be leased or is not yet restored; else empty
  // What the card shows against a restore that the driver called complete; else empty.
  std::string read_back = {};
};
// A named count since the daemon started (docs/reference/daemon-protocol.md).
struct Count {
  std::string name;
  std::uint64_t value = 0;
};
struct DaemonStatus {
  std::string version;
  std::uint64_t pid = 0;
  bool guardian = false;
  bool administrator = false;  // the client is an administrator
  bool closed = false;         // refuses new leases
  std::string trouble;         // why it cannot serve, such as no driver; else empty
  std::vector<GpuStatus> gpus;
  std::vector<Count> counts = {};  // empty from a daemon older than these counts
};

// An Error is also a reply.
using Reply = std::variant<Error, Done, Granted, Applied, LeaseList, DaemonStatus>;

template <class Message>
struct Numbered {
  std::uint64_t sequence = 0;  // a reply repeats its request's number
  Message message;
};

// Encode into a whole frame; kUsage when the message does not fit.
Result<std::string> encode_request(const Numbered<Request>& request);
Result<std::string> encode_reply(const Numbered<Reply>& reply);

// Decode the body of a frame.
Result<Numbered<Request>> decode_request(std::string_view body);
Result<Numbered<Reply>> decode_reply(std::string_view body);

}  // namespace wire

}  // namespace hypermile
