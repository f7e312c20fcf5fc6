// SPDX-License-Identifier: Apache-2.0
//
// GPOEO (Wang, Zhang, Lai, Hao, Wang, IEEE TPDS 33(11), 2022): starts where a predictor says the
// best clocks are, searches nearby, memory clock first, then the SM clock by golden section, fits a
// cubic to what it measured and keeps the best gear of the fit. Only the search is here; the
// predicted Setting comes from outside (PolicyContext::predicted; 0.86 of the default where there
// is none), and so do exact times per iteration in place of its period detector.
//
// Constants, as in the authors' code: limit 0.9 of the bound; under "energy" it minimises E*T^2,
// and so do we; feasible beats infeasible, then less reward, among infeasible less slowdown. One
// gear is 15 of 1995 MHz, so 0.75 % of the default's value here; radius 12 gears (10 % of its 120),
// 18 after a lower memory clock; re-centring at 0.85; golden section to less than 7 gears or 6
// probes. Watching: a power spread above 18 % searches again from the Setting kept, above 50 % from
// the prediction.
//
// Corrected: (1) slowdown and energy are relative to the default as measured, whole board (it
// subtracted a constant 30 W); (2) a re-search measures the default again, which it compared with a
// baseline of another phase; (3) power's extremes are forgotten on re-search, else one outlier
// triggers for ever; (4) fewer than four points get a polynomial of as many coefficients as there
// are points, where its cubic was underdetermined; (5) a radius smaller than the list's own step
// moves by one rung; (6) goals without a bound count every gear as feasible.
#include <algorithm>

#include "policy/baselines/gpoeo_clock_search.h"
#include "policy/baselines/ladder.h"
#include "policy/baselines/power_watch.h"
#include "policy/baselines/search_policy.h"
#include "policy/makers.h"

namespace hypermile {
namespace {

constexpr double kLimitShare = 0.9;
constexpr double kFallbackHeight = 0.86;
constexpr double kNearLimit = 1.2;  // slower than this times the limit: only higher memory clocks
constexpr double kHopeless = 0.9;   // of the time: what a higher memory clock might still give
constexpr double kSearchAgain = 0.18;   // power spread
constexpr double kPredictAgain = 0.50;  // power spread
constexpr double kLowerMemory = 0.97;   // 9251 of 9501 MHz still counts as the full memory clock

class Gpoeo : public SearchMethod {
 public:
  explicit Gpoeo(const PolicyContext& context)
      : objective_(context.objective),
        grid_(make_grid(context, kClockFirst)),
        predict_(context.predict) {
    const Ladder& main = grid_.main();
    predicted_ = main[nearest_rung(main, kFallbackHeight)].setting;
    if (context.predicted && grid_.memory_of(*context.predicted)) predicted_ = *context.predicted;
    start_ = predicted_;
    if (const auto bound = effective_bound(objective_)) limit_ = kLimitShare * *bound;
  }

  // As in the paper: features at the default tell where to begin.
  void see_default(const Window& window) override {
    if (!predict_) return;
    const std::vector<PredictedRatio> ratios = predict_(window);
    if (ratios.empty()) return;
    const std::size_t best = predicted_best(ratios, objective_, *window.power);
    // Where nothing promises to save, the search begins at the top of the knob.
    if (best != 0 && !grid_.memory_of(best)) return;
    const Ladder& main = grid_.main();
    predicted_ = start_ = best != 0 ? best : main.front().setting;
  }

  std::optional<std::size_t> search(Trials& trials) const override {
    const auto base = trials.measure(0, "baseline");
    if (!base) return std::nullopt;
    Probed probed(trials);
    probed.set(0, *base);
    const GpoeoRule rule(objective_, *base, limit_);
    const std::size_t predicted_memory = *grid_.memory_of(start_);
    const double height = height_of(predicted_memory);
    const auto memory = search_memory(rule, probed, predicted_memory, height);
    if (!memory) return std::nullopt;
    const bool lower_memory = grid_.memory_height[*memory] < kLowerMemory;
    GpoeoClockSearch clocks(grid_.by_memory[*memory], rule, probed, lower_memory);
    if (!clocks.run(height)) return std::nullopt;
    return clocks.choose();
  }

  bool changed(std::size_t kept, const Measured& window) override {
    const double spread = watch_.spread(window.power);
    if (spread <= kSearchAgain) return false;
    start_ = spread < kPredictAgain ? kept : predicted_;
    watch_.forget();
    return true;
  }

 private:
  double height_of(std::size_t memory) const {
    const Ladder& ladder = grid_.by_memory[memory];
    return std::ranges::find(ladder, start_, &Rung::setting)->height;
  }

  // Which memory clocks to look at after the predicted one, in order: its neighbours, or two higher
  // ones, highest first, when it was plainly too slow. Index 0 is the highest clock.
  std::vector<std::size_t> memory_candidates(std::size_t predicted, bool too_slow) const {
    const std::size_t last = grid_.by_memory.size() - 1;
    std::vector<std::size_t> out;
    if (too_slow) {
      for (std::size_t up = std::min<std::size_t>(predicted, 2); up >= 1; --up) {
        out.push_back(predicted - up);
      }
      return out;
    }
    if (predicted == 0) {
      for (std::size_t m = 1; m <= std::min<std::size_t>(last, 2); ++m) out.push_back(m);
    } else if (predicted == last) {
      for (std::size_t up = std::min<std::size_t>(predicted, 2); up >= 1; --up) {
        out.push_back(predicted - up);
      }
    } else {
      out = {predicted - 1, predicted + 1};
    }
    return out;
  }

  // Index of the memory clock to keep, at the predicted height of the other knob.
  std::optional<std::size_t> search_memory(const GpoeoRule& rule, Probed& probed,
                                           std::size_t predicted, double height) const {
    if (grid_.by_memory.size() < 2) return predicted;
    const auto probe = [&](std::size_t memory) {
      const Ladder& ladder = grid_.by_memory[memory];
      return probed.at(ladder[nearest_rung(ladder, height)].setting, "memory clock");
    };
    const auto first = probe(predicted);
    if (!first) return std::nullopt;
    std::size_t best = predicted;
    Measured best_measured = *first;
    const bool too_slow = limit_ && rule.slowdown(*first) >= kNearLimit * *limit_;
    for (const std::size_t memory : memory_candidates(predicted, too_slow)) {
      const auto m = probe(memory);
      if (!m) return std::nullopt;
      if (rule.better(*m, best_measured)) {
        best = memory;
        best_measured = *m;
      }
      if (too_slow && kHopeless * (1 + rule.slowdown(*m)) - 1 > *limit_) break;
    }
    return best;
  }

  Objective objective_;
  SettingGrid grid_;
  PredictRatios predict_;
  std::optional<double> limit_;
  std::size_t predicted_ = 0;
  std::size_t start_ = 0;
  PowerWatch watch_;
};

}  // namespace

std::unique_ptr<Policy> make_gpoeo_policy(const PolicyContext& context) {
  return std::make_unique<SearchPolicy>(context, std::make_unique<Gpoeo>(context));
}

}  // namespace hypermile
