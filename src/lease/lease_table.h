// SPDX-License-Identifier: Apache-2.0
//
// Who holds which GPU, until when, and what happens when a lease ends: the state machine at the
// centre of the daemon and of the guardian. It owns no thread and no socket: the process's loop
// calls it, with time from an injected clock, and GpuPorts do the work. One thread uses it; done
// functions are called on that thread.
//
// A GPU is free, leased, or being restored. It is leased to one owner at a time, and is free again
// only when its port says that it is restored. However a lease ends, every GPU of it is restored.
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
  std::vector<LeasedGpu> gpus;  // with what the allow-list grants; each GPU once
  Seconds ttl;
};

struct GpuStatus {
  PortStatus port;
  std::optional<Lease> lease;
  bool free = false;  // could be leased now; a port is restored a moment before its table knows
};

// Counted since the start, for metrics.
struct LeaseCounts {
  std::uint64_t granted = 0;
  std::map<LeaseEnd, std::uint64_t> ended;
  std::uint64_t restores = 0;         // of one GPU, complete
  std::uint64_t failed_restores = 0;  // attempts that must be made again
};

class LeaseTable {
 public:
  // Told when a lease has ended, before its GPUs are restored. Must not call the table.
  using Ended = std::function<void(const Lease&, LeaseEnd)>;

  // All must outlive the table. Leases are numbered from `first_id`.
  LeaseTable(Clock& clock, std::vector<GpuPort*> gpus, LeaseId first_id, Ended ended = {});
  // Pending done functions of ports may come later; they find nothing to do.
  ~LeaseTable();
  LeaseTable(const LeaseTable&) = delete;
  LeaseTable& operator=(const LeaseTable&) = delete;

  // Gives back whatever an earlier process left changed. No GPU can be leased before that is done
  // for it. Call once, first.
  void recover();

  // All of the GPUs or none. kUsage for a TTL outside [kShortestTtl, kLongestTtl], no GPU or one
  // named twice; kNotFound for a GPU that is not here; kBusy names who holds it and since when, or
  // why it is not restored yet; kNotReady after stop().
  Result<Lease> acquire(const LeaseRequest& request);

  // The lease then lasts a TTL from now. A lease that is not this connection's is kNotFound, which
  // is also the answer to an owner that comes too late: it has no lease any more.
  Result<Instant> renew(ConnectionId connection, LeaseId lease);

  // Tells a GPU of the lease what to do; knobs that `setting` does not name go back to their
  // baseline, so an empty one is the baseline. `done` gets kNotFound, kPermission for what is
  // outside the bounds, kBusy while an earlier change of this GPU is under way, kIo when the
  // journal cannot be written (then nothing was changed). A GPU that does not answer ends the
  // lease.
  void set(ConnectionId connection, LeaseId lease, const GpuUuid& gpu, const Setting& setting,
           GpuPort::SetDone done);

  // `done` when every GPU of it is restored.
  void release(ConnectionId connection, LeaseId lease, std::function<void(Result<void>)> done);

  // The connection hung up or its process is gone.
  void owner_gone(ConnectionId connection);

  // Ends what has expired by now. Call it at next_expiry() or later.
  void expire();
  std::optional<Instant> next_expiry() const;

  // The administrator's way out: ends the lease that holds the GPU and resets every knob of it.
  // `done` when that is complete; kNotFound when there is no such GPU.
  void reset(const GpuUuid& gpu, std::function<void(Result<void>)> done);

  // Ends every lease and grants no more. `done` when every GPU is restored.
  void stop(std::function<void()> done);

  std::vector<GpuStatus> status() const;
  const LeaseCounts& counts() const { return counts_; }

  static constexpr Seconds kShortestTtl = milliseconds(100);
  static constexpr Seconds kLongestTtl = Seconds(3600);

 private:
  struct Slot;   // one GPU
  struct Alive;  // lets a late done function see that the table is gone

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
