// SPDX-License-Identifier: Apache-2.0
#include "nodes/joint_policy.h"

#include <algorithm>

#include "policy/job_ledger.h"

namespace hypermile {
namespace {

// A node that has reported waits for the next order, which withdraws the wait. So many iterations
// are never reached.
constexpr double kUntilTold = 1e9;

// From the moment a Setting is in force here until it surely is on every node: an order's way
// (milliseconds), a round of their Sessions (40 ms) and a card's own time to act (150 ms at most).
constexpr Seconds kOthersFollow = Seconds(0.3);

}  // namespace

JointPolicy::JointPolicy(Seat& seat, std::uint32_t phase, Seconds typical,
                         const PolicyContext& context)
    : seat_(seat), phase_(phase), settings_(context.settings) {
  seat_.begin(phase, {context.settings, context.window_iterations, context.settle_iterations,
                      context.default_values, typical});
}

Step JointPolicy::next() {
  const Order order = seat_.order(phase_);
  doing_ = order.id;
  const auto setting = std::ranges::find(settings_, order.setting);
  Step step;
  // The coordinator orders only settings that every node offers. Any other means the default.
  const bool known = setting != settings_.end();
  step.setting = known ? static_cast<std::size_t>(setting - settings_.begin()) : 0;
  step.exploring = order.exploring;
  step.confidence = order.confidence;
  step.reason = order.reason;
  step.settle = kOthersFollow;
  const bool waits = order.id == 0 || order.id == reported_ || !known;
  step.iterations = waits ? kUntilTold : order.iterations;
  if (waits) return step;
  step.abort_above = order.abort_above;
  step.abort_after = order.abort_after;
  return step;
}

bool JointPolicy::withdrawn() const {
  return seat_.order(phase_).id != doing_;
}

void JointPolicy::observe(const Window& window) {
  if (doing_ == 0 || doing_ == reported_) return;
  reported_ = doing_;
  seat_.report(phase_, doing_, window);
}

void JointPolicy::account(const JobLedger& ledger) {
  NodeAccount account{ledger.done(), ledger.off(), 0, ledger.off_time()};
  if (ledger.knows_default()) account.lost = ledger.lost();
  seat_.account(phase_, account);
}

}  // namespace hypermile
