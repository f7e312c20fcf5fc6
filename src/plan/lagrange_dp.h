// SPDX-License-Identifier: Apache-2.0
//
// The dynamic program inside the planner: for one price of time (multiplier), the assignment of
// least energy + multiplier·time on the ring of steps. States are the choices; running minima over
// where a segment may have begun make a step cost as much as there are choices, not their square.
#pragma once

#include <optional>

#include "plan/plan_problem.h"

namespace hypermile {

class LagrangeDp {
 public:
  explicit LagrangeDp(const PlanProblem& problem);
  ~LagrangeDp();

  // Two changes or more; nullopt where staying with one choice is better or nothing else is
  // possible. A ring has no first step: where a good plan changes is found on two iterations in
  // a row, then the ring is solved from there.
  std::optional<Assignment> solve(double multiplier);

 private:
  struct Start {
    std::size_t step = 0;
    std::uint32_t choice = 0;
  };
  struct Origin {
    std::uint32_t choice = 0;   // what ran before
    std::uint32_t entered = 0;  // and since which boundary
  };

  void weigh(double multiplier);
  // Fills `entry_` over `length` steps from `start.step`; with_choice: it begins with start.choice.
  void sweep(const Start& start, std::size_t length, bool with_choice);
  void advance(std::size_t boundary);
  void enter(std::size_t boundary);
  std::optional<Start> find_start();
  std::optional<Assignment> solve_from(const Start& start);

  const PlanProblem& problem_;
  std::size_t gears_ = 1;
  double multiplier_ = 0;
  std::vector<double> weight_;  // energy + multiplier · time, step-major
  // While sweeping, per choice: sums from the start to the boundary …
  std::vector<double> cost_sum_, time_sum_;
  // … and the cheapest entries that are old enough to leave by either kind of change.
  struct Oldest {
    double value = 0;
    std::uint32_t entered = 0;
    std::uint32_t next = 0;  // first boundary that is not old enough yet
  };
  std::vector<Oldest> by_sm_, by_memory_;
  // The two cheapest ways to leave a memory clock, by different choices: nobody leaves himself.
  struct TwoCheapest;
  std::vector<TwoCheapest> same_, other_;
  // Per boundary and choice: cost of entering there, less the sum up to there; and its origin.
  std::vector<double> entry_;
  std::vector<double> time_at_;  // time_sum_ at each boundary
  std::vector<Origin> origin_;
};

}  // namespace hypermile
