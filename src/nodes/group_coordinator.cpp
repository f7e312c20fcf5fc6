// SPDX-License-Identifier: Apache-2.0
#include "nodes/group_coordinator.h"

#include <fmt/format.h>

namespace hypermile {
namespace {

constexpr Seconds kGather = Seconds(10);  // for all nodes of the job; then enough of them suffice
constexpr Seconds kPhaseHere = Seconds(30);  // for all members to have met a phase of the job
// A node that finds the job changed so soon after the others is telling of the same change.
constexpr Seconds kSameChange = Seconds(120);

}  // namespace

GroupCoordinator::GroupCoordinator(GroupTerms terms, Send send, Instant now)
    : terms_(std::move(terms)),
      send_(std::move(send)),
      last_order_(terms_.orders_from),
      changed_(now),
      trouble_("the nodes of the job have not met yet") {
  for (const auto& [number, learnt] : terms_.learnt) phases_[number].learnt = learnt;
}

// More than half, or exactly half with the first node: of two halves only one has it.
bool GroupCoordinator::enough() const {
  const std::size_t twice = 2 * members_.size();
  return twice > terms_.nodes.size() || (twice == terms_.nodes.size() && members_.contains(0));
}

void GroupCoordinator::joined(NodeNumber node, Instant now) {
  if (node >= terms_.nodes.size() || !members_.insert(node).second) return;
  regroup(fmt::format("{} has joined", terms_.nodes[node]), now);
}

void GroupCoordinator::lost(NodeNumber node, Instant now) {
  if (members_.erase(node) == 0) return;
  for (auto& [number, phase] : phases_) {
    phase.terms.erase(node);
    phase.generations.erase(node);
  }
  regroup(fmt::format("{} is lost", terms_.nodes[node]), now);
}

void GroupCoordinator::regroup(const std::string& why, Instant now) {
  changed_ = now;
  trouble_ = why;
  for (auto& [number, phase] : phases_) dissolve(number, phase, why);
}

void GroupCoordinator::dissolve(std::uint32_t number, Phase& phase, const std::string& why) {
  if (!phase.course) return;
  phase.learnt = phase.course->learnt();
  decisions_before_ += phase.course->decisions();
  phase.course.reset();
  const Order order = default_order(number, why);
  for (const NodeNumber node : members_) send_(node, order);
}

Order GroupCoordinator::default_order(std::uint32_t phase, const std::string& why) {
  Order order;
  order.id = ++last_order_;
  order.phase = phase;
  order.reason = why;
  return order;
}

void GroupCoordinator::report(NodeNumber node, const NodeReport& report, Instant now) {
  if (!members_.contains(node)) return;
  if (report.totals) totals_[node] = *report.totals;
  if (report.generation == 0) return;  // a sign of life
  Phase& phase = phases_[report.phase];
  if (report.terms) {
    phase.terms[node] = *report.terms;
    if (!phase.first_heard) phase.first_heard = now;
  }
  const auto [known, first] = phase.generations.try_emplace(node, report.generation);
  const bool changed =
      !first && std::exchange(known->second, report.generation) != report.generation;
  if (changed && phase.course && now - phase.course->begun() > kSameChange) {
    dissolve(report.phase, phase, "the job has changed");
    phase.learnt.reset();
  }
  if (phase.course) phase.course->report(node, report, now);
}

void GroupCoordinator::step(Instant now) {
  const bool gathered = members_.size() == terms_.nodes.size() || now - changed_ >= kGather;
  if (!gathered) return;
  if (!enough()) {
    trouble_ = fmt::format("only {} of {} nodes are here, too few to decide for the job",
                           members_.size(), terms_.nodes.size());
    return;
  }
  for (auto& [number, phase] : phases_) {
    if (!phase.course) try_to_begin(number, phase, now);
    if (phase.course) phase.course->step(now);
  }
}

void GroupCoordinator::try_to_begin(std::uint32_t number, Phase& phase, Instant now) {
  if (!phase.first_heard || phase.terms.empty()) return;
  const bool all = phase.terms.size() == members_.size();
  if (!all && (now - *phase.first_heard < kPhaseHere || now - changed_ < kPhaseHere)) return;
  // A node without GPUs of the job has nothing to say, but those who speak must be most.
  if (2 * phase.terms.size() <= members_.size()) return;
  JointCourse::Parts parts{terms_.course, number,       phase.terms,
                           terms_.nodes,  phase.learnt, [this] { return ++last_order_; },
                           send_};
  auto made = JointCourse::make(std::move(parts), now);
  if (!made) {
    trouble_ = made.error().message;
    phase.first_heard.reset();  // until a node comes with other terms
    return;
  }
  trouble_.clear();
  phase.course = std::move(made).value();
}

std::size_t GroupCoordinator::decisions() const {
  std::size_t sum = decisions_before_;
  for (const auto& [number, phase] : phases_) {
    if (phase.course) sum += phase.course->decisions();
  }
  return sum;
}

}  // namespace hypermile
