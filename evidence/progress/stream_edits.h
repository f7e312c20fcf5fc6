// SPDX-License-Identifier: Apache-2.0
//
// Disturbs recordings as real jobs disturb their launch streams: kernels chosen by shape, lost
// launches, threads out of order, side streams, warm-up, time steps, logging, varying lengths,
// accumulation, evaluation. Every edit keeps the labels right.
#pragma once

#include <vector>

#include "base/random.h"
#include "evidence/progress/labelled_stream.h"

namespace hypermile {

// For `share` of the kernels, each launch becomes a variant with probability `often`.
LabelledStream with_variants(const LabelledStream& from, double share, double often,
                             Random& random);
LabelledStream with_losses(const LabelledStream& from, double dropped, double inserted,
                           Random& random);
LabelledStream with_swaps(const LabelledStream& from, double share, Random& random);
// Adds a stream of three kernels, launched at random moments.
LabelledStream with_side_stream(const LabelledStream& from, double per_second, Random& random);
// Puts `launches` launches of other and of the same kernels in front.
LabelledStream with_warm_up(const LabelledStream& from, std::size_t launches, Random& random);
// Repeats a twentieth of each iteration 0 to 5 times.
LabelledStream with_time_steps(const LabelledStream& from, Random& random);
// Adds `launches` launches after every `every` iterations.
LabelledStream with_logging(const LabelledStream& from, std::size_t launches, std::size_t every);
// For `share` of the kernels, the name depends on the iteration's length, one of six.
LabelledStream with_lengths(const LabelledStream& from, double share, Random& random);
// Keeps the last part of each iteration (its optimizer) only in every `steps`-th iteration.
LabelledStream with_accumulation(const LabelledStream& from, std::size_t steps);

struct PhasedStream {
  LabelledStream stream;
  std::vector<std::uint64_t> switches;  // launches that begin another phase
};
// Alternates `train` iterations with `eval` iterations that launch only the first `forward` part.
PhasedStream with_evaluation(const LabelledStream& from, std::size_t train, std::size_t eval,
                             double forward);

}  // namespace hypermile
