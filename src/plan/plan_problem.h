// SPDX-License-Identifier: Apache-2.0
//
// The planner's problem, and the cost of a solution. The stages of a repeating iteration each get a
// choice (a setting), and the energy shall be least within a time limit. A change of the choice
// has a cost:
//
//  - Iterations repeat, so requests can be issued ahead, but they serialise: each takes effect no
//    sooner than its latency after the one before. So the segment before a change must last at
//    least the `spacing` of that change.
//  - A change may cost GPU time (memory stands still while its clock changes).
//
// The iteration is a ring: the first stage follows the last. Pure functions, called by the planner
// and the strategies.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "plan/cost_table.h"

namespace hypermile {

// The cost of one change of the setting.
struct SwitchPrice {
  double spacing_s = 0;  // least duration of the segment before the change
  double lost_s = 0;     // time for which the GPU stands still
  double lost_j = 0;     // energy in that time
};

struct PlanProblem {
  std::size_t stages = 0;
  std::size_t choices = 0;          // choice 0 is the default
  std::vector<StageCost> costs;     // by stage and choice
  std::vector<std::uint32_t> gear;  // the memory clock of each choice; 0 is the default's
  SwitchPrice sm, memory;  // changes of the SM clock alone, and changes of the memory clock
  double time_limit_s = std::numeric_limits<double>::infinity();

  const StageCost& at(std::size_t stage, std::size_t choice) const {
    return costs[stage * choices + choice];
  }
  const SwitchPrice& price(std::size_t from, std::size_t to) const {
    return gear[from] == gear[to] ? sm : memory;
  }
  // Whether changes cost nothing.
  bool free_switching() const;
};

using Assignment = std::vector<std::uint32_t>;  // one choice per stage

struct PlanTotals {
  double time_s = 0;
  double energy_j = 0;
  std::size_t switches = 0;  // per iteration
};

// The cost of an assignment; nullopt where changes follow each other too soon. The time limit is
// not checked.
std::optional<PlanTotals> evaluate(const PlanProblem& problem, const Assignment& assignment);

// The cost of an assignment as it would be carried out, also where its changes follow each other
// too soon. The executor requests ahead what will be wanted when a request acts, one request at a
// time; until then the old choice runs. Means per iteration over many iterations.
PlanTotals execute(const PlanProblem& problem, const Assignment& assignment);

// The cost where one choice runs throughout.
PlanTotals uniform_totals(const PlanProblem& problem, std::size_t choice);
// The choice of least energy within the time limit; the default where no choice is within it.
std::size_t best_uniform(const PlanProblem& problem);

}  // namespace hypermile
