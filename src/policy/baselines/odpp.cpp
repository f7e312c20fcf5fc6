// SPDX-License-Identifier: Apache-2.0
//
// ODPP (Zou, Ang, Barker, Ge, CCGRID 2020), as re-implemented by the authors of GPOEO: sample four
// clocks spread over the range, interpolate time and energy linearly between them, sample three
// more in the gaps, and choose over all clocks.
//
// Constants: samples at the top, the bottom and evenly between (its 1920, 1425, 945, 450 MHz), then
// at the three middles (1680, 1185, 690); slowdown limit 0.9 of the bound, the one its comparison
// was run with; all again when power spreads by more than 15 %. No memory clock; SM clock first,
// else the power limit.
//
// Corrected: (1) between the two passes the original retrains a neural network on the seven
// samples, whose weights were never published; here the piecewise-linear model takes the three more
// samples as nodes, which is what the network would have to learn; (2) the original compares
// absolute seconds with a default of 1.0, so that a job above 1.045 s an iteration has no feasible
// clock and any other only feasible ones: here both are relative to the default measured; (3) the
// lowest clock is no longer a candidate regardless of its slowdown; (4) power's extremes are
// forgotten when it samples again.
#include <algorithm>
#include <cmath>

#include "policy/baselines/ladder.h"
#include "policy/baselines/power_watch.h"
#include "policy/baselines/probed.h"
#include "policy/baselines/search_policy.h"
#include "policy/makers.h"

namespace hypermile {
namespace {

constexpr double kLimitShare = 0.9;
constexpr double kSpread = 0.15;
// In sixths of the range, from the top: the four samples, then the three between them.
constexpr int kSamples[] = {0, 2, 4, 6, 1, 3, 5};

class Odpp : public SearchMethod {
 public:
  explicit Odpp(const PolicyContext& context)
      : objective_(context.objective), ladder_(make_grid(context, kClockFirst).main()) {}

  std::optional<std::size_t> search(Trials& trials) const override {
    Probed probed(trials);
    std::vector<std::pair<std::size_t, Measured>> nodes;  // by rung
    const double range = ladder_.front().height - ladder_.back().height;
    for (const int sixths : kSamples) {
      const std::size_t rung = nearest_rung(ladder_, ladder_.front().height - range * sixths / 6.0);
      const auto m = probed.at(ladder_[rung].setting, "sample of the range");
      if (!m) return std::nullopt;
      nodes.emplace_back(rung, *m);
    }
    std::ranges::sort(nodes, {}, [](const auto& node) { return node.first; });
    const TrialReference reference(objective_, nodes.front().second);
    auto limit = effective_bound(objective_);
    if (limit) limit = kLimitShare * *limit;
    std::vector<Trial> predicted;
    for (std::size_t rung = 0; rung < ladder_.size(); ++rung) {
      predicted.push_back({ladder_[rung].setting, interpolate(nodes, rung)});
    }
    return best_within(reference, predicted, limit);
  }

  bool changed(std::size_t, const Measured& window) override {
    if (watch_.spread(window.power) <= kSpread) return false;
    watch_.forget();
    return true;
  }

 private:
  // Time and energy, linear in the knob between the nodes on either side.
  Measured interpolate(const std::vector<std::pair<std::size_t, Measured>>& nodes,
                       std::size_t rung) const {
    const auto above =
        std::ranges::find_if(nodes, [&](const auto& node) { return node.first >= rung; });
    if (above == nodes.end()) return nodes.back().second;
    if (above == nodes.begin() || above->first == rung) return above->second;
    const auto& [low_rung, a] = *(above - 1);
    const auto& [high_rung, b] = *above;
    const double width = ladder_[high_rung].height - ladder_[low_rung].height;
    const double share = width == 0 ? 0 : (ladder_[rung].height - ladder_[low_rung].height) / width;
    const Seconds time = a.time + (b.time - a.time) * share;
    const Joules first = a.power * a.time;
    const Joules energy = first + (b.power * b.time - first) * share;
    return Measured{time, energy / time};
  }

  Objective objective_;
  Ladder ladder_;
  PowerWatch watch_;
};

}  // namespace

std::unique_ptr<Policy> make_odpp_policy(const PolicyContext& context) {
  return std::make_unique<SearchPolicy>(context, std::make_unique<Odpp>(context));
}

}  // namespace hypermile
