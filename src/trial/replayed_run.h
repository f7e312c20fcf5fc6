// SPDX-License-Identifier: Apache-2.0
//
// A measured sweep under the whole Controller, in virtual time: the curve is the card, its job
// ticks into a ring, and Session, sampler, Windows and Controller are those of a living job.
// `evaluate --controller` and the evidence ask for it beside judge/replay.h, which plays the policy
// alone.
#pragma once

#include <string_view>

#include "trial/judge/replay.h"

namespace hypermile {

// As replay(): what the job cost is counted at the curve's own values, what the Controller sees has
// noise. An iteration takes 0.4 s, so that a change of Setting costs as many as in replay().
Result<RunResult> replay_controlled(const Curve& curve, std::string_view policy, std::size_t repeat,
                                    const Conditions& conditions);

}  // namespace hypermile
