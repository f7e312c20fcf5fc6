// SPDX-License-Identifier: Apache-2.0
//
// A node's place in the group of nodes that decide together. The node's Controller sits on one
// side, through policies that do as they are ordered and report what they measured; the agent's
// connection to the coordinating node is on the other. Where there is no group, every policy says
// at once that its Step is withdrawn and asks for the default.
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

  // A group that decides was entered: reports are due from the beginning.
  void join();
  // Newest orders count; what an older one asked for is withdrawn.
  void take(const Order& order);
  // Nothing can be decided together until join(): the default, and `why` for people.
  void leave(const std::string& why);
  // What is to be told since the last call: Windows in order, and what is new of a phase. `beat`:
  // how far every phase has come as well.
  std::vector<NodeReport> reports(bool beat = true);
  // The node's ranks have ended: its last report. It is told even where no phase was met.
  void farewell(const NodeTotals& totals);
  // By phase: for whoever coordinates next.
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
  std::optional<NodeTotals> totals_;  // until they are told
  bool joined_ = false;
  std::string why_ = "the nodes of the job have not met yet";
};

}  // namespace hypermile
