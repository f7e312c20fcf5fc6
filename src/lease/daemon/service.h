// SPDX-License-Identifier: Apache-2.0
//
// Carries out requests: checks the allow-list, calls the lease table, replies. It knows nothing of
// sockets and never blocks, so that tests run it in virtual time. A guardian is the same service
// with one client that may do everything.
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
#include "lease/daemon/turns.h"
#include "lease/gpu_port.h"
#include "lease/lease_table.h"
#include "lease/protocol/message.h"

namespace hypermile {

// Used by one thread, which also calls the `reply` functions, at once or later.
class Service {
 public:
  struct Options {
    bool guardian = false;    // its one client may do everything
    bool read_only = false;   // HYPERMILE_READ_ONLY: no lease at all
    Turns::Lives lives = {};  // whether a process lives; by default, the kernel is asked
    // Whether a running batch job gives the user this GPU (job_rights.h); by default, none does.
    std::function<bool(uid_t user, const GpuUuid& gpu)> job_allows = {};
  };
  using ReplyTo = std::function<void(wire::Reply)>;

  // `clock` must outlive this.
  Service(Clock& clock, DaemonConfig config, Options options, Log log);

  // Applies to later requests; leases that are already held keep their bounds.
  void set_config(DaemonConfig config);
  const DaemonConfig& config() const { return config_; }

  // Provides the GPUs, which must outlive this. Restores what an earlier process left changed, and
  // grants leases from then on. Called once.
  void serve_gpus(std::vector<GpuPort*> gpus);
  // The error for clients that ask before there are GPUs.
  void no_gpus_because(Error why);
  // True when no change of an earlier process remains on any GPU, except on those that cannot be
  // reached now. False while another process keeps a GPU, which may last only a moment.
  bool recovered() const;

  // A connection holds at most one lease and waits for each reply before its next request.
  void handle(ConnectionId connection, const Peer& peer, const wire::Request& request,
              ReplyTo reply);
  // The connection closed, or its process ended.
  void connection_gone(ConnectionId connection);
  bool holds_a_lease(ConnectionId connection) const { return held_.contains(connection); }

  // Ends leases that have expired or reached their longest duration. Call it at next_deadline() or
  // later.
  void expire();
  std::optional<Instant> next_deadline() const;

  // Ends every lease and grants no more.
  void stop();
  // True when none of our changes remain on any GPU: after stop() the process may end. This process
  // never changed a GPU that another one keeps or whose journal could not be opened.
  bool at_rest() const;

 private:
  struct Held {
    LeaseId lease = 0;
    std::optional<Instant> latest_end;
    Seconds longest = Seconds(0);  // where there is a latest end
  };

  wire::Reply acquire(ConnectionId connection, const Peer& peer,
                      const wire::AcquireRequest& request);
  Result<Rights> rights(const Peer& peer, const GpuUuid& gpu) const;
  Result<Lease> take_in_turn(const LeaseRequest& request, bool exempt);
  void take_back(const GpuUuid& gpu, std::optional<Seconds> hold);
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
  Error no_gpus_;  // used while there is no table
  std::unique_ptr<LeaseTable> table_;
  std::map<ConnectionId, Held> held_;
  std::map<ConnectionId, std::string> ended_;  // why a connection's lease has ended
  bool closed_ = false;
  Turns turns_;
  struct Writes {
    std::uint64_t applied = 0;
    std::uint64_t failed = 0;  // refused, or failed on at least one knob
    Seconds took;              // total time, including the journal
    double last_unix = 0;      // time of the newest successful write
  } writes_;
};

}  // namespace hypermile
