// SPDX-License-Identifier: Apache-2.0
//
// A policy with the ledger of its job, as the Controller and the judge keep one, for tests that
// alternate next() and observe() themselves.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "policy/job_ledger.h"
#include "policy/policy.h"

namespace hypermile {

class LedgeredPolicy {
 public:
  // `iterations`: the length of the job, known from the start.
  LedgeredPolicy(std::unique_ptr<Policy> policy, const PolicyContext& context,
                 double iterations = 20000)
      : policy_(std::move(policy)),
        ledger_(context.settings.size(), context.window_iterations),
        iterations_(iterations) {}

  Step next() {
    ledger_.set_job(iterations_, iterations_);
    policy_->account(ledger_);
    const Step step = policy_->next();
    asked_ = step.setting;
    expected_ = step.expected;
    return step;
  }
  void observe(const Window& window) {
    if (window.time_per_iteration) {
      ledger_.pass(asked_ != 0, window.iterations, *window.time_per_iteration * window.iterations);
    }
    ledger_.add(asked_, window, expected_);
    policy_->observe(window);
  }
  Policy& policy() { return *policy_; }
  const JobLedger& ledger() const { return ledger_; }

 private:
  std::unique_ptr<Policy> policy_;
  JobLedger ledger_;
  double iterations_;
  std::size_t asked_ = 0;
  std::optional<ExpectedLook> expected_;
};

}  // namespace hypermile
