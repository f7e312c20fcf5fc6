// SPDX-License-Identifier: Apache-2.0
//
// Every policy on every curve, several times over, on all cores. The result does not depend on the
// number of threads: each run has its own seed, and results come in the order curves, policies,
// repeats.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "trial/judge/replay.h"

namespace hypermile {

using ReplayJob = std::function<Result<RunResult>(
    const Curve& curve, std::string_view policy, std::size_t repeat, const Conditions& conditions)>;

// `threads` 0: one per core. `play` plays one job; empty: replay(). The first error in order, if
// any run has one.
Result<std::vector<RunResult>> hold_tournament(std::span<const Curve> curves,
                                               std::span<const std::string> policies,
                                               std::size_t repeats, const Conditions& conditions,
                                               unsigned threads = 0, const ReplayJob& play = {});

}  // namespace hypermile
