// SPDX-License-Identifier: Apache-2.0
#include "agent/group_loop.h"

#include <mutex>

#include "agent/follower.h"

namespace hypermile {
namespace {

constexpr Seconds kOthersStart = Seconds(8);     // launches of one step differ by seconds
constexpr Seconds kPause = milliseconds(300);    // before all nodes are tried again
constexpr Seconds kRound = milliseconds(100);    // of a coordinator
constexpr Seconds kLookLower = Seconds(2);       // between two looks for a lower coordinator
constexpr Seconds kBriefly = milliseconds(200);  // for a connection, while others wait for us

class GroupLoop {
 public:
  GroupLoop(const GroupPlan& plan, AgentServer& server, Credentials& credentials, Seat& seat,
            Clock& clock, const std::stop_token& stop)
      : plan_(plan),
        server_(server),
        credentials_(credentials),
        seat_(seat),
        clock_(clock),
        stop_(stop),
        begun_(clock.now()),
        addresses_(plan.addresses) {}

  void run() {
    while (!stop_.stop_requested()) {
      if (follow_lowest()) continue;
      if (plan_.self != 0 && !was_member_ && clock_.now() - begun_ < kOthersStart) {
        clock_.sleep_for(kPause, stop_);
        continue;
      }
      coordinate();
    }
    server_.stop_coordinating("the agent ends");
  }

 private:
  // True where a node was followed; it is lost now, or we are to stop.
  bool follow_lowest() {
    for (NodeNumber node = 0; node < plan_.self && !stop_.stop_requested(); ++node) {
      if (follow_node(node, Seconds(1))) return true;
    }
    return stop_.stop_requested();
  }

  bool follow_node(NodeNumber node, Seconds connect_within) {
    FollowTerms terms{address_of(node), plan_.job, plan_.self, plan_.nodes.size(), connect_within};
    if (terms.address.empty()) return false;
    if (plan_.address_at) {
      terms.learn_host = [this](NodeNumber other, const std::string& host) { learn(other, host); };
    }
    const auto welcomed = [this] {
      was_member_ = true;
      server_.stop_coordinating("a lower node coordinates");
    };
    return follow(terms, credentials_, seat_, clock_, welcomed, stop_).ok();
  }

  std::string address_of(NodeNumber node) const {
    const std::scoped_lock lock(mutex_);
    return addresses_[node];
  }

  // What the plan knows stays: the first node is where the job's master is.
  void learn(NodeNumber node, const std::string& host) {
    if (node >= plan_.addresses.size() || !plan_.addresses[node].empty()) return;
    const std::scoped_lock lock(mutex_);
    addresses_[node] = plan_.address_at(node, host);
  }

  void coordinate() {
    GroupTerms terms;
    terms.course = plan_.course;
    terms.nodes = plan_.nodes;
    terms.orders_from = static_cast<std::uint64_t>(clock_.unix_time() * 1e3);
    terms.learnt = seat_.learnt();
    server_.coordinate(std::move(terms));
    NodeNumber lower = 0;
    Instant looked = clock_.now();
    while (!stop_.stop_requested()) {
      server_.step();
      clock_.sleep_for(kRound, stop_);
      if (plan_.self == 0 || clock_.now() - looked < kLookLower) continue;
      looked = clock_.now();
      if (follow_node(lower, kBriefly)) return;
      lower = (lower + 1) % plan_.self;
    }
  }

  const GroupPlan& plan_;
  AgentServer& server_;
  Credentials& credentials_;
  Seat& seat_;
  Clock& clock_;
  std::stop_token stop_;
  Instant begun_;
  bool was_member_ = false;
  mutable std::mutex mutex_;  // of addresses_
  std::vector<std::string> addresses_;
};

}  // namespace

void run_group_loop(const GroupPlan& plan, AgentServer& server, Credentials& credentials,
                    Seat& seat, Clock& clock, const std::stop_token& stop) {
  GroupLoop(plan, server, credentials, seat, clock, stop).run();
}

}  // namespace hypermile
