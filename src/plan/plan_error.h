// SPDX-License-Identifier: Apache-2.0
//
// How sure a plan's figures are, given the errors of the measurements behind them, and the table on
// which a plan is made so that it does not chase those errors. Called by plan_report.cpp; pure.
#pragma once

#include "plan/measured_table.h"
#include "plan/plan_problem.h"

namespace hypermile {

// Half widths of 95 % intervals, as shares of the default's energy and time.
struct PlanError {
  double saved = 0;
  double slowdown = 0;
};

// The error of the difference between two assignments. Stages whose costs come from the same rows
// have the same error; what only the model says is taken to be wrong everywhere in the same way.
PlanError error_between(const MeasuredTable& measured, const Assignment& a, const Assignment& b);

// The table with every cost but the default's raised by its standard error. The cheapest of many
// noisy costs is too low on average; on this table a choice has to win by more than its error.
CostTable cautious(const MeasuredTable& measured);

}  // namespace hypermile
