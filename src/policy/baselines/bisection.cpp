// SPDX-License-Identifier: Apache-2.0
//
// Bisection on the slowdown: the lowest rung within the bound lies between the default, which is
// within, and the bottom. Nobody's method in particular, and the simplest that works; the rival
// that every cleverer one has to beat.
//
//   bisection         one Window at the default, one a probe, the bound itself
//   bisection-margin  four at the default, two a probe, one percentage point of margin
//
// Both keep the measured Setting of least score within the limit. Under a goal without a bound
// there is nothing to bisect on: golden section over the score instead. Memory clocks come first
// (memory_first.h), at the same limit.
#include <algorithm>
#include <functional>

#include "policy/baselines/golden_section.h"
#include "policy/baselines/memory_first.h"
#include "policy/baselines/search_policy.h"
#include "policy/makers.h"

namespace hypermile {
namespace {

struct BisectionOptions {
  int baseline_windows = 1;
  int probe_windows = 1;
  double margin = 0;  // taken off the bound
};

class Bisection : public SearchMethod {
 public:
  Bisection(const PolicyContext& context, const BisectionOptions& options)
      : objective_(context.objective),
        grid_(make_grid(context, kClockFirst)),
        options_(options),
        limit_(effective_bound(context.objective)) {
    // A bound as tight as the margin would leave nothing to look for.
    if (limit_) limit_ = std::max(*limit_ - options.margin, 0.5 * *limit_);
  }

  std::optional<std::size_t> search(Trials& trials) const override {
    const auto base = trials.measure(0, options_.baseline_windows, "baseline");
    if (!base) return std::nullopt;
    const TrialReference reference(objective_, *base);
    Probed probed(trials);
    probed.set(0, *base);
    const auto memory = choose_memory(grid_, reference, probed, limit_, options_.probe_windows);
    if (!memory) return std::nullopt;
    const Ladder& ladder = grid_.by_memory[*memory];
    const bool done =
        limit_ ? bisect(ladder, reference, probed) : descend(ladder, reference, probed);
    if (!done) return std::nullopt;
    return best_within(reference, probed.all(), limit_);
  }

 private:
  // False: a measurement is missing.
  bool bisect(const Ladder& ladder, const TrialReference& reference, Probed& probed) const {
    std::size_t within = 0;
    std::size_t beyond = ladder.size();
    while (beyond - within > 1) {
      const std::size_t middle = within + (beyond - within) / 2;
      const auto m = probed.at(ladder[middle].setting, "bisection", options_.probe_windows);
      if (!m) return false;
      (reference.within(*m, limit_) ? within : beyond) = middle;
    }
    return true;
  }

  bool descend(const Ladder& ladder, const TrialReference& reference, Probed& probed) const {
    const auto score_of = [&](std::int64_t rung) -> std::optional<double> {
      const std::size_t setting = ladder[static_cast<std::size_t>(rung)].setting;
      const auto m = probed.at(setting, "golden section", options_.probe_windows);
      return m ? std::optional(reference.score(*m)) : std::nullopt;
    };
    const GoldenInterval whole{.low = 0, .high = static_cast<std::int64_t>(ladder.size()) - 1};
    return golden_section(whole, score_of, std::less<>{});
  }

  Objective objective_;
  SettingGrid grid_;
  BisectionOptions options_;
  std::optional<double> limit_;
};

}  // namespace

std::unique_ptr<Policy> make_bisection_policy(const PolicyContext& context) {
  return std::make_unique<SearchPolicy>(context,
                                        std::make_unique<Bisection>(context, BisectionOptions{}));
}

std::unique_ptr<Policy> make_bisection_margin_policy(const PolicyContext& context) {
  const BisectionOptions options{.baseline_windows = 4, .probe_windows = 2, .margin = 0.01};
  return std::make_unique<SearchPolicy>(context, std::make_unique<Bisection>(context, options));
}

}  // namespace hypermile
