// SPDX-License-Identifier: Apache-2.0
#include "plan/break_even.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr double kWorth = 0.001;           // least extra saving, as a share of the default's energy
constexpr double kShortest = 1e-6;         // s
constexpr double kLongest = 2;             // iterations
constexpr double kLatencyPrecision = 1.1;  // ratio of the final bracket's latencies
constexpr double kRounding = 1e-9;

class LatencySearch {
 public:
  LatencySearch(const StrategyInput& input, const Switching& switching)
      : input_(input), switching_(switching) {
    normal_ = uniform_totals(input.problem, 0);
    const StrategyResult uniform = run_strategy("uniform", input);
    enough_j_ = uniform.totals.energy_j - kWorth * normal_.energy_j;
  }

  // Bisects for the longest latency at which the totals of `totals_at(problem)` still pay. What
  // pays at one latency pays at every shorter one.
  template <class TotalsAt>
  std::optional<Seconds> longest(TotalsAt totals_at) const {
    const auto pays = [&](double latency) {
      const PlanProblem problem = at(latency);
      const PlanTotals totals = totals_at(problem);
      return totals.energy_j <= enough_j_ &&
             totals.time_s <= problem.time_limit_s * (1 + kRounding);
    };
    double low = kShortest;
    double high = std::max(kLongest * normal_.time_s, 2 * low);
    if (!pays(0)) return std::nullopt;
    if (!pays(low)) return Seconds(0);
    if (pays(high)) return Seconds(high);
    while (high / low > kLatencyPrecision) {
      const double middle = std::sqrt(low * high);
      (pays(middle) ? low : high) = middle;
    }
    return Seconds(low);
  }

  PlanProblem at(double latency) const {
    Switching switching = switching_;
    switching.latency = Seconds(latency);
    return make_problem(input_.sheet, input_.table, input_.max_slowdown, switching);
  }

 private:
  const StrategyInput& input_;
  Switching switching_;
  PlanTotals normal_;
  double enough_j_ = 0;
};

}  // namespace

BreakEven find_break_even(const StrategyInput& input, const Switching& switching) {
  const LatencySearch search(input, switching);
  const auto strategy = [&](std::string_view name) {
    return [&input, name](const PlanProblem& problem) {
      const StrategyInput changed{input.sheet, input.stages, input.precision,
                                  input.table, problem,      input.max_slowdown};
      return run_strategy(name, changed).totals;
    };
  };
  BreakEven found;
  // The optimum of every layer by itself, also for tighter bounds, because late switches cost time.
  std::vector<Assignment> each;
  PlanProblem tighter = search.at(0);
  const double normal = uniform_totals(tighter, 0).time_s;
  const double spare = tighter.time_limit_s - normal;
  for (const double share : {1.0, 0.8, 0.6, 0.4, 0.2, 0.0}) {
    tighter.time_limit_s = normal + share * spare;
    each.push_back(make_plan(tighter).choice);
  }
  found.layer = search.longest([&](const PlanProblem& problem) {
    PlanTotals best = uniform_totals(problem, 0);
    for (const Assignment& plan : each) {
      const PlanTotals totals = execute(problem, plan);
      const bool fits = totals.time_s <= problem.time_limit_s;
      if (fits && totals.energy_j < best.energy_j) best = totals;
    }
    return best;
  });
  found.segment = search.longest(strategy("switch-aware"));
  found.phase = search.longest(strategy("phase"));
  return found;
}

}  // namespace hypermile
