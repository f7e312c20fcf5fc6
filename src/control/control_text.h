// SPDX-License-Identifier: Apache-2.0
//
// What a Controller has done, for people: lines that follow the summary of a run, and as JSON. What
// settings cost and saved is RunFigures' alone.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "control/control_summary.h"
#include "policy/expectation.h"
#include "policy/objective.h"
#include "record/run_figures.h"

namespace hypermile {

struct ControlOutcome {
  ControlSummary summary;
  Objective objective;
  // What jobs on such a card saved, where this one was not tried; nothing that was measured here.
  std::optional<Expectation> expected = {};
};

std::string to_text(const ControlOutcome& outcome, const RunFigures& figures);
// to_json(ControlSummary) with the figures of each phase and of the whole job.
nlohmann::json to_json(const ControlOutcome& outcome, const RunFigures& figures);

// "hypermile expects …": for runs without a Controller as well.
std::string to_text(const Expectation& expected, const Objective& objective);
nlohmann::json to_json(const Expectation& expected);

}  // namespace hypermile
