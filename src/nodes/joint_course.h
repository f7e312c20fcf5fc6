// SPDX-License-Identifier: Apache-2.0
//
// One phase of a job on several nodes, decided as one: joins the nodes' Windows into one Window of
// the job (the slowest sets the pace, powers add up), shows it to one policy, and turns the
// policy's next Step into an order for each node. Once a Setting is held, nodes that wait for the
// others get lower clocks (control/slack_keeper.h, with nodes in the place of GPUs). Windows are
// joined by order, which each node carries out over the same iterations; no clock of another host
// is read.
//
// The GroupCoordinator makes one for each phase and a new one whenever the nodes change. It owns no
// thread and no clock: every call is given the time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "control/slack_keeper.h"
#include "nodes/order.h"
#include "policy/job_ledger.h"
#include "policy/policy.h"

namespace hypermile {

using NodeNumber = std::size_t;  // within the job's list of nodes

struct CourseTerms {
  std::string policy = "hypermile";
  Objective objective = {};
  bool steady = false;
  std::uint64_t seed = 1;
};

class JointCourse {
 public:
  struct Parts {
    CourseTerms terms;
    std::uint32_t phase = 0;
    std::map<NodeNumber, PhaseTerms> nodes;  // at least one
    std::vector<std::string> names;          // of all nodes of the job
    std::optional<Learnt> learnt;            // by another course of the phase
    std::function<std::uint64_t()> next_id;  // of an order; grows
    std::function<void(NodeNumber node, const Order& order)> send;
  };

  // kUsage where no policy can be made; kUnsupported where the nodes' GPUs have no Setting in
  // common.
  static Result<std::unique_ptr<JointCourse>> make(Parts parts, Instant now);

  void report(NodeNumber node, const NodeReport& report, Instant now);
  // Called about every 100 ms, so that nobody waits for ever for a node that measures nothing.
  void step(Instant now);

  const std::optional<Learnt>& learnt() const { return parts_.learnt; }
  const std::map<NodeNumber, PhaseTerms>& nodes() const { return parts_.nodes; }
  Instant begun() const { return begun_; }
  std::size_t decisions() const { return decisions_; }
  // What each node was ordered last, in the order of nodes().
  const std::vector<Setting>& ordered() const { return ordered_; }

 private:
  JointCourse(Parts parts, PolicyContext context, std::unique_ptr<Policy> policy, Seconds typical,
              Instant now);

  void issue();
  void judge(Instant now);
  void take(const Window& joint, std::span<const RankWindow> nodes);
  void learn(const Step& step);
  void pass_time(const NodeAccount& account);
  void guard_bound();
  std::vector<Setting> settings_of_step();
  bool watches_default() const { return spoiled_ || earning_back_; }
  std::string reason() const;

  Parts parts_;
  PolicyContext context_;
  std::unique_ptr<Policy> policy_;
  Seconds typical_;
  JobLedger ledger_;
  std::optional<SlackKeeper> slack_;  // of more than one node
  std::optional<Step> step_;
  std::uint64_t id_ = 0;  // of the orders in hand
  std::vector<Setting> ordered_;
  std::map<NodeNumber, Window> windows_;  // that came for them
  std::optional<Instant> first_window_;
  std::optional<NodeAccount> before_;  // of the lead, when it was first heard
  NodeAccount account_;                // the part of it that the ledger has heard
  Instant begun_;
  std::string trouble_;  // why the default is watched
  bool spoiled_ = false, earning_back_ = false;
  int retakes_ = 0;
  std::size_t decisions_ = 0;
};

}  // namespace hypermile
