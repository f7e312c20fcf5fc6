// SPDX-License-Identifier: Apache-2.0
//
// exact_plan(): extends all Pareto-optimal pairs of time and energy segment by segment, for every
// stage and choice at which the ring can be cut open.
#include <algorithm>

#include "plan/planner.h"

namespace hypermile {
namespace {

struct Label {
  double time_s = 0, energy_j = 0;
  // The segment that ends here: its choice, the stage where it began, and the label before it.
  std::uint32_t choice = 0, entered = 0, before = 0;
};

// Keeps the labels that no other label beats in both time and energy.
void keep_pareto(std::vector<Label>& labels) {
  std::ranges::sort(labels, [](const Label& a, const Label& b) {
    return a.time_s != b.time_s ? a.time_s < b.time_s : a.energy_j < b.energy_j;
  });
  std::vector<Label> kept;
  for (const Label& label : labels) {
    if (kept.empty() || label.energy_j < kept.back().energy_j) kept.push_back(label);
  }
  labels = std::move(kept);
}

class CutOpen {
 public:
  CutOpen(const PlanProblem& problem, std::size_t stage, std::uint32_t choice)
      : problem_(problem), stage_(stage), choice_(choice) {
    const std::size_t k = problem.choices;
    labels_.resize((problem.stages + 1) * k);
    labels_[choice].push_back({});
    sums_.resize((problem.stages + 1) * k);
    for (std::size_t i = 0; i < problem.stages; ++i) {
      for (std::size_t c = 0; c < k; ++c) {
        const StageCost& cost = problem.at((stage + i) % problem.stages, c);
        const StageCost& before = sums_[i * k + c];
        sums_[(i + 1) * k + c] = {before.time_s + cost.time_s, before.energy_j + cost.energy_j};
      }
    }
  }

  // The best plan that changes to `choice` before `stage`.
  std::optional<Assignment> solve() {
    for (std::uint32_t i = 1; i < problem_.stages; ++i) {
      for (std::uint32_t c = 0; c < problem_.choices; ++c) enter(i, c);
    }
    const auto end = static_cast<std::uint32_t>(problem_.stages);
    enter(end, choice_);
    std::vector<Label>& last = at(end, choice_);
    if (last.empty()) return std::nullopt;
    // Pareto labels are sorted by time, so the last label has the least energy.
    Assignment assignment(problem_.stages, choice_);
    std::uint32_t until = end, to = choice_;
    auto label = static_cast<std::uint32_t>(last.size() - 1);
    while (until > 0) {
      const Label& here = at(until, to)[label];
      for (std::uint32_t i = here.entered; i < until; ++i) {
        assignment[(stage_ + i) % problem_.stages] = here.choice;
      }
      until = here.entered;
      to = here.choice;
      label = here.before;
    }
    return assignment;
  }

 private:
  std::vector<Label>& at(std::uint32_t boundary, std::uint32_t choice) {
    return labels_[boundary * problem_.choices + choice];
  }

  void enter(std::uint32_t boundary, std::uint32_t to) {
    std::vector<Label> reached;
    const std::size_t k = problem_.choices;
    for (std::uint32_t from = 0; from < k; ++from) {
      if (from == to) continue;
      const SwitchPrice& price = problem_.price(from, to);
      for (std::uint32_t entered = 0; entered < boundary; ++entered) {
        const StageCost& end = sums_[boundary * k + from];
        const StageCost& begin = sums_[entered * k + from];
        const double time = end.time_s - begin.time_s;
        if (time < price.spacing_s * (1 - 1e-12)) continue;
        const std::vector<Label>& before = at(entered, from);
        for (std::uint32_t i = 0; i < before.size(); ++i) {
          Label label{before[i].time_s + time + price.lost_s,
                      before[i].energy_j + end.energy_j - begin.energy_j + price.lost_j, from,
                      entered, i};
          if (label.time_s <= problem_.time_limit_s) reached.push_back(label);
        }
      }
    }
    keep_pareto(reached);
    at(boundary, to) = std::move(reached);
  }

  const PlanProblem& problem_;
  std::size_t stage_;
  std::uint32_t choice_;
  std::vector<std::vector<Label>> labels_;
  std::vector<StageCost> sums_;
};

}  // namespace

Plan exact_plan(const PlanProblem& problem) {
  const auto uniform = static_cast<std::uint32_t>(best_uniform(problem));
  Plan best{Assignment(problem.stages, uniform), uniform_totals(problem, uniform)};
  for (std::size_t stage = 0; stage < problem.stages; ++stage) {
    for (std::uint32_t choice = 0; choice < problem.choices; ++choice) {
      const auto assignment = CutOpen(problem, stage, choice).solve();
      if (!assignment) continue;
      const auto totals = evaluate(problem, *assignment);
      if (!totals || totals->time_s > problem.time_limit_s * (1 + 1e-12)) continue;
      if (totals->energy_j < best.totals.energy_j) best = {*assignment, *totals};
    }
  }
  return best;
}

}  // namespace hypermile
