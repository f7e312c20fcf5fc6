// SPDX-License-Identifier: Apache-2.0
//
// What the daemon does with a request: asks the allow-list, tells the table of leases, answers.
// Knows nothing of sockets and waits for nothing, so that tests drive it in virtual time. The
// guardian is the same service with one client that may do everything.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "lease/daemon/allow_list.h"
#include "lease/daemon/daemon_config.h"
#include "lease/daemon/log.h"
#include "lease/gpu_port.h"
#include "lease/lease_table.h"
#include "lease/protocol/message.h"

namespace hypermile {

// One thread uses it; `reply` functions are called on it, at once or later.
class Service {
 public:
  struct Options {
    bool guardian = false;   // its one client may do everything
    bool read_only = false;  // HYPERMILE_READ_ONLY: no lease at all
  };
  using ReplyTo = std::function<void(wire::Reply)>;

  // `clock` must outlive this.
  Service(Clock& clock, DaemonConfig config, Options options, Log log);

  // For what comes after; leases that are held keep their bounds.
  void set_config(DaemonConfig config);
  const DaemonConfig& config() const { return config_; }

  // The GPUs are there; they must outlive this. Gives back what an earlier process left changed,
  // and grants leases from then on. Called once.
  void serve_gpus(std::vector<GpuPort*> gpus);
  // Why there are none yet, for those who ask meanwhile.
  void no_gpus_because(Error why);
  // Every GPU has been looked after: nothing of an earlier process is left on it, or it cannot be
  // reached now. Not yet while another process keeps one, which may be for a moment only.
  bool recovered() const;

  // A connection has one lease at most and waits for a reply before it asks again.
  void handle(ConnectionId connection, const Peer& peer, const wire::Request& request,
              ReplyTo reply);
  // Hung up, or its process is gone.
  void connection_gone(ConnectionId connection);

  // Ends what has lasted long enough. Call it at next_deadline() or later.
  void expire();
  std::optional<Instant> next_deadline() const;

  // Ends every lease and grants no more.
  void stop();
  // Nothing of ours is on any GPU: after stop() the process may end. A GPU that another process
  // keeps, or whose journal could not even be opened, was never changed by this one.
  bool at_rest() const;

 private:
  struct Held {
    LeaseId lease = 0;
    std::optional<Instant> latest_end;
  };

  wire::Reply acquire(ConnectionId connection, const Peer& peer,
                      const wire::AcquireRequest& request);
  Result<Rights> rights(const Peer& peer, const GpuUuid& gpu) const;
  void set(ConnectionId connection, const wire::SetRequest& request, ReplyTo reply);
  wire::Reply renew(ConnectionId connection, LeaseId lease);
  void release(ConnectionId connection, LeaseId lease, ReplyTo reply);
  wire::Reply list() const;
  wire::Reply status(const Peer& peer) const;
  std::vector<wire::Count> counts() const;
  void count_write(const Result<SetReply>& done, Instant asked);
  void reset(const Peer& peer, const wire::ResetRequest& request, ReplyTo reply);
  std::vector<GpuUuid> all_gpus() const;
  void note_end(const Lease& lease, LeaseEnd why);
  Error explain(ConnectionId connection, Error error) const;

  Clock& clock_;
  DaemonConfig config_;
  Options options_;
  Log log_;
  Error no_gpus_;  // while there is no table
  std::unique_ptr<LeaseTable> table_;
  std::map<ConnectionId, Held> held_;
  std::map<ConnectionId, std::string> ended_;  // why a connection's lease is no more
  bool closed_ = false;
  struct Writes {
    std::uint64_t applied = 0;
    std::uint64_t failed = 0;  // refused, or not by every knob
    Seconds took;              // all of them together, the journal included
    double last_unix = 0;      // the last that was applied
  } writes_;
};

}  // namespace hypermile
