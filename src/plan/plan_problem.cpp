// SPDX-License-Identifier: Apache-2.0
#include "plan/plan_problem.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

// Long enough to forget the start, and to average over how requests fall within an iteration.
constexpr double kIterations = 24;
constexpr double kLatencies = 64;
constexpr std::size_t kMostStages = 400'000;

bool less_enough(double time, double spacing) {
  return time < spacing * (1 - 1e-12);
}

// Runs an assignment stage by stage, with at most one request in flight.
class Executor {
 public:
  Executor(const PlanProblem& problem, const Assignment& assignment)
      : problem_(problem),
        assignment_(assignment),
        current_(assignment[0]),
        iteration_s_(uniform_totals(problem, current_).time_s) {}

  PlanTotals run() {
    const double latency = std::max(problem_.sm.spacing_s, problem_.memory.spacing_s);
    const double wanted = std::ceil(std::max(kIterations, kLatencies * latency / iteration_s_));
    const double most =
        std::max(4.0, static_cast<double>(kMostStages) / static_cast<double>(problem_.stages));
    const auto iterations = static_cast<std::size_t>(std::min(wanted, most));
    // An iteration in which nothing was in flight repeats forever.
    bool settled = false;
    for (std::size_t i = 0; i < iterations && !settled; ++i) settled = !iterate();
    if (settled) return uniform_totals(problem_, current_);
    const PlanTotals before = sum_;
    for (std::size_t i = 0; i < iterations; ++i) iterate();
    const double count = static_cast<double>(iterations);
    PlanTotals mean;
    mean.time_s = (sum_.time_s - before.time_s) / count;
    mean.energy_j = (sum_.energy_j - before.energy_j) / count;
    mean.switches = static_cast<std::size_t>(
        std::llround(static_cast<double>(sum_.switches - before.switches) / count));
    return mean;
  }

 private:
  // Whether a request was in flight.
  bool iterate() {
    bool any = false;
    for (std::size_t stage = 0; stage < problem_.stages; ++stage) {
      ask(stage);
      any = any || pending_;
      run_stage(stage);
    }
    return any;
  }

  // Where nothing is in flight, requests the choice that will be wanted when the request acts.
  void ask(std::size_t stage) {
    if (pending_) return;
    const double longest = std::max(problem_.sm.spacing_s, problem_.memory.spacing_s);
    // No request can be for what will be wanted sooner than the shortest latency: whole iterations.
    const double shortest = std::min(problem_.sm.spacing_s, problem_.memory.spacing_s);
    double ahead = std::max(0.0, std::floor(shortest / iteration_s_) - 1) * iteration_s_;
    for (std::size_t at = stage; ahead <= longest; at = (at + 1) % problem_.stages) {
      const std::uint32_t wanted = assignment_[at];
      const double spacing = problem_.price(current_, wanted).spacing_s;
      const double time = problem_.at(at, current_).time_s;
      if (wanted != current_ && ahead + time > spacing) {
        pending_ = wanted;
        acts_in_ = std::max(ahead, spacing);
        return;
      }
      ahead += time;
    }
  }

  void run_stage(std::size_t stage) {
    double left = 1;  // share of the stage's work
    while (left > 0) {
      if (pending_ && acts_in_ <= 1e-15) change();
      const StageCost& cost = problem_.at(stage, current_);
      const double time = left * cost.time_s;
      if (!pending_ || acts_in_ >= time) {
        spend(time, left * cost.energy_j);
        return;
      }
      const double share = acts_in_ / cost.time_s;
      spend(acts_in_, share * cost.energy_j);
      left -= share;
    }
  }

  void spend(double time, double energy) {
    sum_.time_s += time;
    sum_.energy_j += energy;
    if (pending_) acts_in_ -= time;
  }

  void change() {
    const SwitchPrice& price = problem_.price(current_, *pending_);
    sum_.time_s += price.lost_s;
    sum_.energy_j += price.lost_j;
    ++sum_.switches;
    current_ = *pending_;
    iteration_s_ = uniform_totals(problem_, current_).time_s;
    pending_.reset();
  }

  const PlanProblem& problem_;
  const Assignment& assignment_;
  std::uint32_t current_;
  double iteration_s_;  // at the current choice throughout
  std::optional<std::uint32_t> pending_;
  double acts_in_ = 0;
  PlanTotals sum_;
};

}  // namespace

bool PlanProblem::free_switching() const {
  for (const SwitchPrice& price : {sm, memory}) {
    if (price.spacing_s > 0 || price.lost_s > 0 || price.lost_j > 0) return false;
  }
  return true;
}

std::optional<PlanTotals> evaluate(const PlanProblem& problem, const Assignment& assignment) {
  const std::size_t n = problem.stages;
  PlanTotals totals;
  std::size_t first = n;  // a stage at which a segment begins
  for (std::size_t i = 0; i < n; ++i) {
    const StageCost& cost = problem.at(i, assignment[i]);
    totals.time_s += cost.time_s;
    totals.energy_j += cost.energy_j;
    if (first == n && assignment[i] != assignment[(i + n - 1) % n]) first = i;
  }
  if (first == n) return totals;
  double lasted = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t stage = (first + i) % n;
    const std::uint32_t here = assignment[stage];
    const std::uint32_t next = assignment[(stage + 1) % n];
    lasted += problem.at(stage, here).time_s;
    if (here == next) continue;
    const SwitchPrice& price = problem.price(here, next);
    if (less_enough(lasted, price.spacing_s)) return std::nullopt;
    totals.time_s += price.lost_s;
    totals.energy_j += price.lost_j;
    ++totals.switches;
    lasted = 0;
  }
  return totals;
}

PlanTotals execute(const PlanProblem& problem, const Assignment& assignment) {
  if (const auto exact = evaluate(problem, assignment)) return *exact;
  return Executor(problem, assignment).run();
}

PlanTotals uniform_totals(const PlanProblem& problem, std::size_t choice) {
  PlanTotals totals;
  for (std::size_t stage = 0; stage < problem.stages; ++stage) {
    totals.time_s += problem.at(stage, choice).time_s;
    totals.energy_j += problem.at(stage, choice).energy_j;
  }
  return totals;
}

std::size_t best_uniform(const PlanProblem& problem) {
  std::size_t best = 0;
  double least = uniform_totals(problem, 0).energy_j;
  for (std::size_t choice = 1; choice < problem.choices; ++choice) {
    const PlanTotals totals = uniform_totals(problem, choice);
    if (totals.time_s > problem.time_limit_s || totals.energy_j >= least) continue;
    best = choice;
    least = totals.energy_j;
  }
  return best;
}

}  // namespace hypermile
