// SPDX-License-Identifier: Apache-2.0
//
// The sweep of Zeus (You, Chung, Chowdhury, NSDI 2023; GlobalPowerLimitOptimizer as it ships):
// every value of the knob once, from the highest down, then the best of what was measured, for
// good.
//
// Its knob is the power limit; where the list has none, the SM clock; the memory clock stays at the
// default, as Zeus leaves it at its maximum. One Window each, of the length that everybody gets
// (its own is 40 steps after 10 of warm-up). The reference is its first value, the default here and
// the maximum limit there.
//
// Corrected: under a slowdown bound Zeus keeps the lowest limit within it, even where that costs
// more energy than another; here the least score within it. Its cost takes the board's maximum
// power as the price of time; here score() prices it at what the board draws at the default.
#include "policy/baselines/ladder.h"
#include "policy/baselines/search_policy.h"
#include "policy/makers.h"

namespace hypermile {
namespace {

class Zeus : public SearchMethod {
 public:
  explicit Zeus(const PolicyContext& context)
      : objective_(context.objective), ladder_(make_grid(context, kLimitFirst).main()) {}

  std::optional<std::size_t> search(Trials& trials) const override {
    std::vector<Trial> swept;
    for (const Rung& rung : ladder_) {
      const auto m = trials.measure(rung.setting, "sweep");
      if (!m) return std::nullopt;
      swept.push_back({rung.setting, *m});
    }
    const TrialReference reference(objective_, swept.front().measured);
    return best_within(reference, swept, effective_bound(objective_));
  }

 private:
  Objective objective_;
  Ladder ladder_;
};

}  // namespace

std::unique_ptr<Policy> make_zeus_policy(const PolicyContext& context) {
  return std::make_unique<SearchPolicy>(context, std::make_unique<Zeus>(context));
}

}  // namespace hypermile
