// SPDX-License-Identifier: Apache-2.0
//
// The policy of a node that decides together with others: it runs what the coordinating node
// orders, reports the Window, and waits at the same Setting for the next order. A new order
// withdraws the Step in hand. The Controller makes one for each phase, through Seat::maker().
#pragma once

#include <cstdint>
#include <vector>

#include "nodes/seat.h"
#include "policy/policy.h"

namespace hypermile {

class JointPolicy final : public Policy {
 public:
  // `seat` must outlive it.
  JointPolicy(Seat& seat, std::uint32_t phase, Seconds typical, const PolicyContext& context);

  Step next() override;
  bool withdrawn() const override;
  void observe(const Window& window) override;
  void account(const JobLedger& ledger) override;

 private:
  Seat& seat_;
  std::uint32_t phase_;
  std::vector<Setting> settings_;
  std::uint64_t doing_ = 0;     // the order of the last Step
  std::uint64_t reported_ = 0;  // the last order whose Window was reported
};

}  // namespace hypermile
