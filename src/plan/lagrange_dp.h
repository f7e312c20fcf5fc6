// SPDX-License-Identifier: Apache-2.0
//
// The dynamic program of the planner: for one price of time (the multiplier, in J/s), finds the
// assignment with the least energy + multiplier · time on the ring of stages. Its states are the
// choices. Running minima over where a segment may have begun make the work per stage linear in the
// number of choices. Called by planner.cpp; one object per thread.
#pragma once

#include <optional>

#include "plan/plan_problem.h"

namespace hypermile {

class LagrangeDp {
 public:
  explicit LagrangeDp(const PlanProblem& problem);
  ~LagrangeDp();

  // Returns an assignment with two changes or more, and nullopt where one choice throughout is
  // better or nothing else is possible. A ring has no first stage, so the program first runs over
  // two iterations, and then solves the ring from a stage where that plan changes.
  std::optional<Assignment> solve(double multiplier);

 private:
  struct Start {
    std::size_t stage = 0;
    std::uint32_t choice = 0;
  };
  struct Origin {
    std::uint32_t choice = 0;   // the choice before this entry
    std::uint32_t entered = 0;  // the boundary at which that choice was entered
  };

  void weigh(double multiplier);
  // Fills `entry_` over `length` stages from `start.stage`. Only start.choice may come first where
  // `with_choice` is true.
  void sweep(const Start& start, std::size_t length, bool with_choice);
  void advance(std::size_t boundary);
  void enter(std::size_t boundary);
  std::optional<Start> find_start();
  std::optional<Assignment> solve_from(const Start& start);

  const PlanProblem& problem_;
  std::size_t gears_ = 1;
  double multiplier_ = 0;
  std::vector<double> weight_;  // energy + multiplier · time, by stage and choice
  // While sweeping, for each choice: sums from the start to the boundary.
  std::vector<double> cost_sum_, time_sum_;
  // The cheapest entries that are old enough to be left by a change of either kind.
  struct Oldest {
    double value = 0;
    std::uint32_t entered = 0;
    std::uint32_t next = 0;  // the first boundary that is not old enough
  };
  std::vector<Oldest> by_sm_, by_memory_;
  // The two cheapest ways to leave a memory clock, by different choices, as a change needs a
  // different choice.
  struct TwoCheapest;
  std::vector<TwoCheapest> same_, other_;
  // For each boundary and choice: the cost of entering there minus the sum up to there.
  std::vector<double> entry_;
  std::vector<double> time_at_;  // time_sum_ at each boundary
  std::vector<Origin> origin_;
};

}  // namespace hypermile
