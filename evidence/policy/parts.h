// SPDX-License-Identifier: Apache-2.0
//
// The rows of the ablation: our search whole, with one part off at a time, and its nearest rival
// with and without the parts that protect ours. Used by main.cpp; pure.
#pragma once

#include <string>
#include <vector>

#include "trial/judge/tournament.h"

namespace hypermile {

struct AblationRow {
  std::string name;  // what people read
  std::string policy = "hypermile";
  void (*alter)(PolicyContext& context) = nullptr;  // nullptr: nothing is off
  bool guard = false;
  bool follow_pace = true;
  bool careful = false;  // a rival under make_careful()
};

const std::vector<AblationRow>& ablation_rows();

// Plays the row of this name on a curve. Every row meets the same noise on the same curve.
Result<RunResult> play_row(const Curve& curve, std::string_view name, std::size_t repeat,
                           const Conditions& conditions);

}  // namespace hypermile
