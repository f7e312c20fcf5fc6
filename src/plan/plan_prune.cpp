// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_prune.h"

#include <algorithm>

namespace hypermile {
namespace {

bool beats(const PlanProblem& problem, std::size_t better, std::size_t worse) {
  for (std::size_t stage = 0; stage < problem.stages; ++stage) {
    const StageCost& a = problem.at(stage, better);
    const StageCost& b = problem.at(stage, worse);
    if (a.time_s > b.time_s || a.energy_j > b.energy_j) return false;
  }
  return true;
}

// The problem with the choices of `kept` only.
PrunedProblem only(const PlanProblem& problem, std::vector<std::uint32_t> kept) {
  PrunedProblem pruned;
  PlanProblem& smaller = pruned.problem;
  smaller.stages = problem.stages;
  smaller.choices = kept.size();
  smaller.sm = problem.sm;
  smaller.memory = problem.memory;
  smaller.time_limit_s = problem.time_limit_s;
  for (const std::uint32_t c : kept) smaller.gear.push_back(problem.gear[c]);
  smaller.costs.reserve(problem.stages * kept.size());
  for (std::size_t stage = 0; stage < problem.stages; ++stage) {
    for (const std::uint32_t c : kept) smaller.costs.push_back(problem.at(stage, c));
  }
  pruned.original = std::move(kept);
  return pruned;
}

}  // namespace

PrunedProblem prune(const PlanProblem& problem) {
  std::vector<std::uint32_t> kept;
  for (std::uint32_t c = 0; c < problem.choices; ++c) {
    // Most comparisons fail on the first stage, so comparing with all is cheap.
    const bool beaten = c > 0 && std::ranges::any_of(kept, [&](std::uint32_t k) {
                          return (problem.gear[k] == problem.gear[c] || problem.gear[k] == 0) &&
                                 beats(problem, k, c);
                        });
    if (!beaten) kept.push_back(c);
  }
  return only(problem, std::move(kept));
}

PrunedProblem thin_out(const PlanProblem& problem, std::size_t most) {
  const std::size_t stride = (problem.choices + most - 1) / most;
  std::vector<std::uint32_t> kept;
  std::size_t place = 0;  // index within the memory clock
  for (std::uint32_t c = 0; c < problem.choices; ++c) {
    place = c > 0 && problem.gear[c] == problem.gear[c - 1] ? place + 1 : 0;
    if (place % stride == 0) kept.push_back(c);
  }
  return only(problem, std::move(kept));
}

}  // namespace hypermile
