// SPDX-License-Identifier: Apache-2.0
//
// What is said on the daemon's socket, as types: requests of a client, replies of the daemon or of
// a guardian (docs/reference/daemon-protocol.md). Each is one frame. encode_* and decode_* are the
// only places that know tags; decoding takes any bytes, checks every value, and never fails
// otherwise than by kParse or, for a version it does not speak, kUnsupported.
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

// The types have plain names, so they live apart from the leases' own.
namespace wire {

inline constexpr std::uint64_t kProtocolVersion = 1;
inline constexpr std::size_t kMostGpus = 64;        // in one request
inline constexpr std::size_t kMostNameBytes = 128;  // of a program or job
inline constexpr std::size_t kMostTextBytes = 512;  // of a message or remedy

// --- requests ---

// The right to change these GPUs, all or none, for as long as it is renewed within `ttl`.
struct AcquireRequest {
  std::vector<GpuUuid> gpus;
  Seconds ttl = Seconds(10);
  std::string program = {};  // for people: who asks
  std::string job = {};      // a batch system's job, or empty
  bool operator==(const AcquireRequest&) const = default;
};
// What one GPU of the lease shall be told. A knob that is absent goes back to its baseline.
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
// The administrator's: ends the leases on these GPUs and restores them, changed or not. `close`
// refuses new leases from then on, `reopen` lets them in again.
struct ResetRequest {
  std::vector<GpuUuid> gpus = {};  // empty: all of them
  bool close = false;
  bool reopen = false;
  bool operator==(const ResetRequest&) const = default;
};

using Request = std::variant<AcquireRequest, SetRequest, RenewRequest, ReleaseRequest, ListRequest,
                             StatusRequest, ResetRequest>;

// --- replies ---

struct Done {};  // to renew, release and reset
struct Granted {
  LeaseId lease = 0;
  Seconds ttl;                          // perhaps shorter than asked for
  std::optional<Seconds> longest = {};  // the lease ends then, renewed or not
};
struct Applied {
  Setting setting;              // what the GPU was told: perhaps clamped
  std::vector<Error> problems;  // of single knobs
};
struct LeasedGpu {
  GpuUuid gpu;
  Setting requested;  // the last that was accepted
  bool restoring = false;
};
struct LeaseEntry {
  LeaseId lease = 0;
  std::uint64_t uid = 0;
  std::uint64_t pid = 0;  // 0: not visible to the daemon
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
  bool allowed = false;  // the one who asks may lease it
  std::string trouble;   // why it cannot be leased or is not yet restored; "" where it is well
};
// Something counted since the daemon began, by name (docs/reference/daemon-protocol.md).
struct Count {
  std::string name;
  std::uint64_t value = 0;
};
struct DaemonStatus {
  std::string version;
  std::uint64_t pid = 0;
  bool guardian = false;
  bool administrator = false;  // the one who asks
  bool closed = false;         // to new leases
  std::string trouble;         // what keeps it from serving, such as no driver; "" where nothing
  std::vector<GpuStatus> gpus;
  std::vector<Count> counts = {};  // none from a daemon that is older than this
};

// An Error is a reply, too.
using Reply = std::variant<Error, Done, Granted, Applied, LeaseList, DaemonStatus>;

template <class Message>
struct Numbered {
  std::uint64_t sequence = 0;  // a reply carries its request's
  Message message;
};

// Whole frames; kUsage when the message does not fit one.
Result<std::string> encode_request(const Numbered<Request>& request);
Result<std::string> encode_reply(const Numbered<Reply>& reply);

// From a frame's body.
Result<Numbered<Request>> decode_request(std::string_view body);
Result<Numbered<Reply>> decode_reply(std::string_view body);

}  // namespace wire

// `text` cut to `most` bytes with everything that is not printable ASCII or a whole UTF-8 character
// turned into '?': it will be shown on an administrator's terminal.
std::string harmless(std::string_view text, std::size_t most);

}  // namespace hypermile
