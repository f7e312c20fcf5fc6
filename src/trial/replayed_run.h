// SPDX-License-Identifier: Apache-2.0
//
// A measured sweep under the whole Controller, on the virtual rig: the curve is the card and its
// job ticks. `evaluate --controller` and the evidence call it beside judge/replay.h, which plays
// the policy alone.
#pragma once

#include <string_view>

#include "trial/judge/replay.h"

namespace hypermile {

// As replay(): what the job cost is counted at the curve's own values, and what the Controller
// measures has noise. An iteration takes 0.4 s, so that a change of setting costs as many
// iterations as in replay().
Result<RunResult> replay_controlled(const Curve& curve, std::string_view policy, std::size_t repeat,
                                    const Conditions& conditions);

}  // namespace hypermile
