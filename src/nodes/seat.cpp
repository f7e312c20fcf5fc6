// SPDX-License-Identifier: Apache-2.0
#include "nodes/seat.h"

#include <utility>

#include "nodes/joint_policy.h"

namespace hypermile {
namespace {

// Windows that wait for a connection; more are of no use to anybody.
constexpr std::size_t kMostWaiting = 8;

Order at_default(std::uint32_t phase, const std::string& why) {
  Order order;
  order.phase = phase;
  order.reason = why;
  return order;
}

}  // namespace

Seat::Maker Seat::maker() {
  return [this](const PhaseFacts& facts,
                const PolicyContext& context) -> Result<std::unique_ptr<Policy>> {
    return std::unique_ptr<Policy>(
        std::make_unique<JointPolicy>(*this, facts.phase, facts.typical, context));
  };
}

void Seat::join() {
  const std::scoped_lock lock(mutex_);
  joined_ = true;
  why_ = "the nodes of the job have not all been heard yet";
  for (auto& [number, phase] : phases_) {
    phase.announced = false;
    phase.windows.clear();
    phase.order = at_default(number, why_);
  }
}

void Seat::take(const Order& order) {
  const std::scoped_lock lock(mutex_);
  if (!joined_) return;
  Phase& phase = phases_[order.phase];
  if (order.learnt) phase.learnt = order.learnt;
  if (order.id <= phase.order.id) return;
  phase.order = order;
  phase.windows.clear();
}

void Seat::leave(const std::string& why) {
  const std::scoped_lock lock(mutex_);
  joined_ = false;
  why_ = why;
  for (auto& [number, phase] : phases_) {
    phase.order = at_default(number, why);
    phase.windows.clear();
  }
}

std::vector<NodeReport> Seat::reports(bool beat) {
  const std::scoped_lock lock(mutex_);
  std::vector<NodeReport> all;
  if (!joined_) return all;
  for (auto& [number, phase] : phases_) {
    if (phase.terms.settings.empty()) continue;  // only orders have come for it
    for (NodeReport& report : std::exchange(phase.windows, {})) all.push_back(std::move(report));
    if (!beat && phase.announced) continue;
    NodeReport state;
    state.phase = number;
    state.generation = phase.generation;
    state.account = phase.account;
    if (!std::exchange(phase.announced, true)) state.terms = phase.terms;
    all.push_back(std::move(state));
  }
  if (totals_) {
    NodeReport last;
    last.totals = std::exchange(totals_, std::nullopt);
    all.push_back(std::move(last));
  }
  return all;
}

void Seat::farewell(const NodeTotals& totals) {
  const std::scoped_lock lock(mutex_);
  totals_ = totals;
}

std::map<std::uint32_t, Learnt> Seat::learnt() const {
  const std::scoped_lock lock(mutex_);
  std::map<std::uint32_t, Learnt> all;
  for (const auto& [number, phase] : phases_) {
    if (phase.learnt) all.emplace(number, *phase.learnt);
  }
  return all;
}

Order Seat::order(std::uint32_t phase) const {
  const std::scoped_lock lock(mutex_);
  const auto found = phases_.find(phase);
  return found != phases_.end() ? found->second.order : at_default(phase, why_);
}

void Seat::begin(std::uint32_t phase, PhaseTerms terms) {
  const std::scoped_lock lock(mutex_);
  Phase& begun = phases_[phase];
  begun.terms = std::move(terms);
  ++begun.generation;
  begun.announced = false;
  begun.windows.clear();
  if (begun.order.id == 0) begun.order = at_default(phase, why_);
}

void Seat::report(std::uint32_t number, std::uint64_t order, const Window& window) {
  const std::scoped_lock lock(mutex_);
  Phase& phase = phases_[number];
  if (!joined_ || order != phase.order.id || phase.windows.size() >= kMostWaiting) return;
  NodeReport report;
  report.phase = number;
  report.generation = phase.generation;
  report.order = order;
  report.window = window;
  report.account = phase.account;
  phase.windows.push_back(std::move(report));
}

void Seat::account(std::uint32_t phase, const NodeAccount& account) {
  const std::scoped_lock lock(mutex_);
  phases_[phase].account = account;
}

}  // namespace hypermile
