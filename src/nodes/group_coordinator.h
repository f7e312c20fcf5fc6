// SPDX-License-Identifier: Apache-2.0
//
// Lets the nodes of one job decide together. It lives at the node that coordinates them, and knows
// which nodes are there, whether they are enough, and the course of each phase of the job
// (joint_course.h). When a node comes or goes, all nodes go to the default and the search begins
// anew with what was learnt. Fewer than half of the job's nodes decide nothing, so that two halves
// of a split network never decide at the same time.
//
// The agent's server calls it under one lock, and step() every 100 ms. Every call is given the
// time, so that tests run it in virtual time. Nothing here fails.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nodes/joint_course.h"

namespace hypermile {

struct GroupTerms {
  CourseTerms course;
  std::vector<std::string> nodes;  // names of all nodes of the job; a node's number is its place
  // The first order's number is above it. Orders of a later coordinator must be above those of an
  // earlier one, so the time of day in milliseconds serves.
  std::uint64_t orders_from = 0;
  std::map<std::uint32_t, Learnt> learnt = {};  // by phase, from an earlier coordinator
};

class GroupCoordinator {
 public:
  using Send = std::function<void(NodeNumber node, const Order& order)>;
  GroupCoordinator(GroupTerms terms, Send send, Instant now);

  void joined(NodeNumber node, Instant now);
  void lost(NodeNumber node, Instant now);
  void report(NodeNumber node, const NodeReport& report, Instant now);
  void step(Instant now);

  const std::set<NodeNumber>& members() const { return members_; }
  bool enough() const;
  std::size_t decisions() const;
  // The totals of the nodes whose ranks have ended, whether they are still members or not.
  const std::map<NodeNumber, NodeTotals>& totals() const { return totals_; }
  // Why nothing is decided; empty where something is.
  const std::string& trouble() const { return trouble_; }

 private:
  struct Phase {
    std::map<NodeNumber, PhaseTerms> terms;
    std::map<NodeNumber, std::uint32_t> generations;
    std::optional<Instant> first_heard;
    std::unique_ptr<JointCourse> course;
    std::optional<Learnt> learnt;
  };

  void regroup(const std::string& why, Instant now);
  void dissolve(std::uint32_t number, Phase& phase, const std::string& why);
  void try_to_begin(std::uint32_t number, Phase& phase, Instant now);
  Order default_order(std::uint32_t phase, const std::string& why);

  GroupTerms terms_;
  Send send_;
  std::uint64_t last_order_;
  std::set<NodeNumber> members_;
  std::map<std::uint32_t, Phase> phases_;
  std::map<NodeNumber, NodeTotals> totals_;
  Instant changed_;  // members last came or went
  std::size_t decisions_before_ = 0;
  std::string trouble_;
};

}  // namespace hypermile
