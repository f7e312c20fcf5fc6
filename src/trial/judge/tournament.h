// SPDX-License-Identifier: Apache-2.0
//
// Runs every policy on every curve several times, on all cores. The result does not depend on the
// number of threads: each run has its own seed, and results are ordered by curve, policy and
// repeat. Called by `evaluate`, the tests and the evidence programs.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "trial/judge/replay.h"

namespace hypermile {

using ReplayJob = std::function<Result<RunResult>(
    const Curve& curve, std::string_view policy, std::size_t repeat, const Conditions& conditions)>;

// `threads` 0 means one per core. `play` plays one job; without it, replay() does. Returns the
// first error in order, if any run fails.
Result<std::vector<RunResult>> hold_tournament(std::span<const Curve> curves,
                                               std::span<const std::string> policies,
                                               std::size_t repeats, const Conditions& conditions,
                                               unsigned threads = 0, const ReplayJob& play = {});

}  // namespace hypermile
