// SPDX-License-Identifier: Apache-2.0
#include "policy/baselines/gpoeo_search.h"

#include <algorithm>

namespace hypermile {
namespace {

constexpr double kLimitShare = 0.9;
constexpr double kUsualHeight = 0.86;
constexpr double kNearLimit = 1.2;  // slower than this times the limit: only higher memory clocks
constexpr double kHopeless = 0.9;   // of the time: what a higher memory clock might still give
constexpr double kLowerMemory = 0.97;  // 9251 of 9501 MHz still counts as the full memory clock

}  // namespace

GpoeoSearch::GpoeoSearch(const PolicyContext& context, GpoeoFit fit)
    : objective_(context.objective), grid_(make_grid(context, kClockFirst)), fit_(fit) {
  if (const auto bound = effective_bound(objective_)) limit_ = kLimitShare * *bound;
}

std::size_t GpoeoSearch::usual_start() const {
  const Ladder& main = grid_.main();
  return main[nearest_rung(main, kUsualHeight)].setting;
}

double GpoeoSearch::height_of(std::size_t setting) const {
  const Ladder& ladder = grid_.by_memory[*grid_.memory_of(setting)];
  return std::ranges::find(ladder, setting, &Rung::setting)->height;
}

std::optional<std::size_t> GpoeoSearch::search(Trials& trials, const Measured& base,
                                               std::size_t start) const {
  Probed probed(trials);
  probed.set(0, base);
  const GpoeoRule rule(objective_, base, limit_);
  const double height = height_of(start);
  const auto memory = search_memory(rule, probed, *grid_.memory_of(start), height);
  if (!memory) return std::nullopt;
  const bool lower_memory = grid_.memory_height[*memory] < kLowerMemory;
  GpoeoClockSearch clocks(grid_.by_memory[*memory], rule, probed, lower_memory);
  if (!clocks.run(height)) return std::nullopt;
  return clocks.choose(fit_);
}

// Which memory clocks to look at after the predicted one, in order: its neighbours, or two higher
// ones, highest first, when it was plainly too slow. Index 0 is the highest clock.
std::vector<std::size_t> GpoeoSearch::memory_candidates(std::size_t predicted,
                                                        bool too_slow) const {
  const std::size_t last = grid_.by_memory.size() - 1;
  std::vector<std::size_t> out;
  if (too_slow || (predicted == last && predicted != 0)) {
    for (std::size_t up = std::min<std::size_t>(predicted, 2); up >= 1; --up) {
      out.push_back(predicted - up);
    }
  } else if (predicted == 0) {
    for (std::size_t m = 1; m <= std::min<std::size_t>(last, 2); ++m) out.push_back(m);
  } else {
    out = {predicted - 1, predicted + 1};
  }
  return out;
}

// Index of the memory clock to keep, at the predicted height of the other knob.
std::optional<std::size_t> GpoeoSearch::search_memory(const GpoeoRule& rule, Probed& probed,
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

}  // namespace hypermile
