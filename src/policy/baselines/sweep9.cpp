// SPDX-License-Identifier: Apache-2.0
//
// A sweep of nine levels: the default and eight rungs spread evenly below it, once each from the
// highest down, then the best of what was measured. What somebody does who finds the full sweep too
// long; no publication's method. Memory clocks come first (memory_first.h).
#include "policy/baselines/memory_first.h"
#include "policy/baselines/search_policy.h"
#include "policy/makers.h"

namespace hypermile {
namespace {

constexpr std::size_t kLevels = 9;

class Sweep9 : public SearchMethod {
 public:
  explicit Sweep9(const PolicyContext& context)
      : objective_(context.objective), grid_(make_grid(context, kClockFirst)) {}

  std::optional<std::size_t> search(Trials& trials) const override {
    const auto base = trials.measure(0, "baseline");
    if (!base) return std::nullopt;
    const TrialReference reference(objective_, *base);
    const auto bound = effective_bound(objective_);
    Probed probed(trials);
    probed.set(0, *base);
    const auto memory = choose_memory(grid_, reference, probed, bound, 1);
    if (!memory) return std::nullopt;
    const Ladder& ladder = grid_.by_memory[*memory];
    for (std::size_t level = 0; level < kLevels; ++level) {
      // Rounded to the nearest rung; short ladders meet some rungs twice, and measure them once.
      const std::size_t rung = (level * (ladder.size() - 1) + (kLevels - 1) / 2) / (kLevels - 1);
      if (!probed.at(ladder[rung].setting, "sweep")) return std::nullopt;
    }
    return best_within(reference, probed.all(), bound);
  }

 private:
  Objective objective_;
  SettingGrid grid_;
};

}  // namespace

std::unique_ptr<Policy> make_sweep9_policy(const PolicyContext& context) {
  return std::make_unique<SearchPolicy>(context, std::make_unique<Sweep9>(context));
}

}  // namespace hypermile
