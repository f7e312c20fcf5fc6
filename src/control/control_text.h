// SPDX-License-Identifier: Apache-2.0
//
// What a Controller has done, for people: lines that follow the summary of a run, and the same
// figures as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "control/control_summary.h"
#include "policy/expectation.h"
#include "policy/objective.h"

namespace hypermile {

struct ControlOutcome {
  ControlSummary summary;
  Objective objective;
  // What jobs on such a card saved, where this one was not tried; nothing that was measured here.
  std::optional<Expectation> expected = {};
};

std::string to_text(const ControlOutcome& outcome);
// to_json(ControlSummary) with what was proved to be saved, in all and per phase.
nlohmann::json to_json(const ControlOutcome& outcome);

// "hypermile expects …": for runs without a Controller as well.
std::string to_text(const Expectation& expected, const Objective& objective);
nlohmann::json to_json(const Expectation& expected);

}  // namespace hypermile
