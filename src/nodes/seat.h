// SPDX-License-Identifier: Apache-2.0
//
// A node's place in the group of nodes that decide together. The node's Controller sits on one
// side, through policies that carry out orders and report what they measured; the agent's
// connection to the coordinating node is on the other. While there is no group, every policy
// withdraws its Step at once and chooses the default.
//
//   Seat seat;
//   ControllerParts{…, .make_policy = seat.maker()};
//   seat.take(order); seat.reports(); seat.leave("the coordinator is lost");
//
// All of it may be called from any thread. Nothing here fails.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "control/controller_options.h"
#include "nodes/order.h"

namespace hypermile {

class Seat {
 public:
  using Maker = decltype(ControllerParts::make_policy);
  // For ControllerParts; this must outlive the Controller.
  Maker maker();

  // The agent's side.

  // Called when this node has entered a group that decides. All reports are made anew.
  void join();
  // A new order replaces the older one, whose Step is withdrawn.
  void take(const Order& order);
  // Until the next join() the GPUs stay at the default; `why` is shown to people.
  void leave(const std::string& why);
  // The reports that became due since the last call: Windows in their order, and news of phases.
  // With `beat`, also how far every phase has come.
  std::vector<NodeReport> reports(bool beat = true);
  // Called when the node's ranks have ended. The totals become its last report, even where no phase
  // was met.
  void farewell(const NodeTotals& totals);
  // What was learnt of each phase, for the node that coordinates next.
  std::map<std::uint32_t, Learnt> learnt() const;

  // The Controller's side, called by the policies that maker() makes.

  Order order(std::uint32_t phase) const;
  void begin(std::uint32_t phase, PhaseTerms terms);
  void report(std::uint32_t phase, std::uint64_t order, const Window& window);
  void account(std::uint32_t phase, const NodeAccount& account);

 private:
  struct Phase {
    PhaseTerms terms;
    std::uint32_t generation = 0;
    NodeAccount account;
    Order order;
    std::optional<Learnt> learnt;
    bool announced = false;
    std::vector<NodeReport> windows;
  };

  mutable std::mutex mutex_;
  std::map<std::uint32_t, Phase> phases_;
  std::optional<NodeTotals> totals_;  // until they are reported
  bool joined_ = false;
  std::string why_ = "the nodes of the job have not met yet";
};

}  // namespace hypermile
