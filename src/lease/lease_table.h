// SPDX-License-Identifier: Apache-2.0
//
// Knows who holds which GPU and until when, and restores GPUs when a lease ends: the state machine
// at the centre of the daemon and of the guardian. It owns no thread and no socket. The process's
// loop calls it, with time from an injected clock, and GpuPorts do the work. One thread uses it and
// receives all callbacks.
//
// A GPU is free, leased, or being restored. It is leased to one owner at a time, and becomes free
// only when its port reports that it is restored. However a lease ends, all its GPUs are restored.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "lease/gpu_port.h"
#include "lease/lease.h"

namespace hypermile {

struct LeaseRequest {
  Owner owner;
  std::vector<LeasedGpu> gpus;  // with the bounds that the allow-list grants; each GPU once
  Seconds ttl;
};

struct GpuStatus {
  PortStatus port;
  std::optional<Lease> lease;
  bool free = false;  // could be leased now; a port is restored shortly before the table knows
};

// Counted since the start, for metrics.
struct LeaseCounts {
  std::uint64_t granted = 0;
  std::map<LeaseEnd, std::uint64_t> ended;
  std::uint64_t restores = 0;         // complete restores of one GPU
  std::uint64_t failed_restores = 0;  // attempts that have to be repeated
};

class LeaseTable {
 public:
  // Called when a lease has ended, before its GPUs are restored. Must not call the table.
  using Ended = std::function<void(const Lease&, LeaseEnd)>;

  // All arguments must outlive the table. Leases are numbered from `first_id`.
  LeaseTable(Clock& clock, std::vector<GpuPort*> gpus, LeaseId first_id, Ended ended = {});
  // Callbacks of ports may still arrive after this; they do nothing.
  ~LeaseTable();
  LeaseTable(const LeaseTable&) = delete;
  LeaseTable& operator=(const LeaseTable&) = delete;

  // Restores whatever an earlier process left changed. A GPU cannot be leased until that is done.
  // Call this once, first.
  void recover();

  // Grants all of the GPUs or none. kUsage for a TTL outside [kShortestTtl, kLongestTtl], for no
  // GPU, or for one named twice; kNotFound for an unknown GPU; kBusy names who holds it and since
  // when, or why it is not restored yet; kNotReady after stop().
  Result<Lease> acquire(const LeaseRequest& request);

  // Extends the lease to one TTL from now. kNotFound for a lease that this connection does not
  // hold, which includes one that has expired.
  Result<Instant> renew(ConnectionId connection, LeaseId lease);

  // Applies `setting` to one GPU of the lease; knobs that it does not name return to their
  // baseline. `done` may get kNotFound, kPermission for a value outside the bounds, kBusy during an
  // earlier change of this GPU, or kIo when the journal cannot be written (nothing was changed
  // then). A GPU that does not answer ends the lease.
  void set(ConnectionId connection, LeaseId lease, const GpuUuid& gpu, const Setting& setting,
           GpuPort::SetDone done);

  // Calls `done` when every GPU of the lease is restored.
  void release(ConnectionId connection, LeaseId lease, std::function<void(Result<void>)> done);

  // The connection closed or its process ended.
  void owner_gone(ConnectionId connection);

  // Ends every lease that has expired. Call it at next_expiry() or later.
  void expire();
  std::optional<Instant> next_expiry() const;

  // The administrator's reset: ends the lease that holds the GPU and resets all its knobs. Calls
  // `done` when that is complete; kNotFound for an unknown GPU.
  void reset(const GpuUuid& gpu, std::function<void(Result<void>)> done);

  // Ends every lease and grants no more. Calls `done` when every GPU is restored.
  void stop(std::function<void()> done);

  std::vector<GpuStatus> status() const;
  const LeaseCounts& counts() const { return counts_; }

  static constexpr Seconds kShortestTtl = milliseconds(100);
  static constexpr Seconds kLongestTtl = Seconds(3600);

 private:
  struct Slot;   // one GPU
  struct Alive;  // lets a late callback find out that the table is gone

  Slot* find(const GpuUuid& uuid) const;
  Lease* find(ConnectionId connection, LeaseId lease);
  Result<void> check_free(const Slot& slot) const;
  void end(LeaseId lease, LeaseEnd why);
  void restore(Slot& slot, RestoreScope scope);

  Clock& clock_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::map<LeaseId, Lease> leases_;
  LeaseId next_id_;
  Ended ended_;
  LeaseCounts counts_;
  bool stopping_ = false;
  std::shared_ptr<Alive> alive_;
};

}  // namespace hypermile
