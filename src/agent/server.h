// SPDX-License-Identifier: Apache-2.0
//
// The listening side of an agent. While this node coordinates, the agents of the job's other nodes
// follow it here: each proves that it belongs to the same user and the same job step, then reports
// and receives orders. While this node follows another, every caller is refused with that reason.
//
// gRPC calls it from its own threads, the agent from one; one lock guards the group. Whatever a
// peer does (garbage, silence, floods, another user's credential) costs it its connection and is
// counted; it never reaches the job.
#pragma once

#include <grpcpp/grpcpp.h>

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "agent/agents.grpc.pb.h"
#include "agent/credentials.h"
#include "base/clock.h"
#include "nodes/group_coordinator.h"
#include "nodes/seat.h"

namespace hypermile {

// Why connections were ended by us.
enum class PeerFault { kVersion, kJob, kCredential, kOrder, kSize, kSlow, kCrowd, kCount };
std::string_view to_string(PeerFault fault);

struct ServerOptions {
  std::string address;  // "HOST:PORT"
  std::string job;      // "JOB.STEP"
  NodeNumber self = 0;
  // Members cannot work out each other's hosts from names, so each is sent the hosts of the others.
  bool share_hosts = false;
};

class AgentServer final : public agents::v1::Agents::CallbackService {
 public:
  // `credentials` and `clock` must outlive it, `seat` as well: it is this node's own place.
  AgentServer(ServerOptions options, Credentials& credentials, Seat& seat, Clock& clock);
  ~AgentServer() override;

  // kIo where the address cannot be listened on.
  Result<void> listen();

  // From now on this node coordinates, its own seat included.
  void coordinate(GroupTerms terms);
  // Sends everybody away.
  void stop_coordinating(const std::string& why);
  // Called every 100 ms. While this node coordinates, it takes in the node's own reports and ends
  // the connections of nodes that have been silent for too long.
  void step();

  // The totals of the nodes whose ranks have ended; empty where this node does not coordinate.
  std::map<NodeNumber, NodeTotals> totals() const;
  bool coordinates() const;

  std::uint64_t count(PeerFault fault) const;
  // Members, decisions and faults in one line for a person, without a newline.
  std::string status() const;

 private:
  class Peer;
  grpc::ServerBidiReactor<agents::v1::FromNode, agents::v1::FromCoordinator>* Decide(
      grpc::CallbackServerContext* context) override;

  // Called by peers, without their lock.
  bool welcome(Peer* peer, NodeNumber node);
  void take(Peer* peer, NodeNumber node, const NodeReport& report);
  void gone(Peer* peer);
  void fault(PeerFault fault) { ++faults_[static_cast<std::size_t>(fault)]; }
  void send(NodeNumber node, const Order& order);
  void share_host(Peer* peer, NodeNumber node);

  const ServerOptions options_;
  Credentials& credentials_;
  Seat& seat_;
  Clock& clock_;
  std::unique_ptr<grpc::Server> server_;
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(PeerFault::kCount)> faults_{};

  mutable std::mutex mutex_;  // all that follows; a Peer's own lock may be taken under it
  std::optional<GroupCoordinator> group_;
  std::size_t nodes_ = 0;
  std::map<NodeNumber, Peer*> members_;
  std::set<Peer*> peers_;  // members and those who are still proving themselves
  std::optional<Instant> beat_;
};

}  // namespace hypermile
