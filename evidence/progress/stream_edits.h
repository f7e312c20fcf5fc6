// SPDX-License-Identifier: Apache-2.0
//
// What real jobs do to a launch stream, done to recordings: kernels chosen by shape, launches lost,
// threads out of order, other streams, warm-up, time steps, logging, lengths, accumulation,
// evaluation. Each edit keeps the labels right.
#pragma once

#include <vector>

#include "base/random.h"
#include "evidence/progress/labelled_stream.h"

namespace hypermile {

// Of `share` of the kernels, each launch becomes a variant's with probability `often`.
LabelledStream with_variants(const LabelledStream& from, double share, double often,
                             Random& random);
LabelledStream with_losses(const LabelledStream& from, double dropped, double inserted,
                           Random& random);
LabelledStream with_swaps(const LabelledStream& from, double share, Random& random);
// Another stream of three kernels, launched at random moments.
LabelledStream with_side_stream(const LabelledStream& from, double per_second, Random& random);
// So many launches of other and the same kernels in front.
LabelledStream with_warm_up(const LabelledStream& from, std::size_t launches, Random& random);
// A twentieth of each iteration is repeated 0 to 5 times.
LabelledStream with_time_steps(const LabelledStream& from, Random& random);
// Extra launches after every so many iterations.
LabelledStream with_logging(const LabelledStream& from, std::size_t launches, std::size_t every);
// Of `share` of the kernels, the name depends on the iteration's length, one of six.
LabelledStream with_lengths(const LabelledStream& from, double share, Random& random);
// The last part of each iteration (its optimizer) is kept only every `steps`.
LabelledStream with_accumulation(const LabelledStream& from, std::size_t steps);

struct PhasedStream {
  LabelledStream stream;
  std::vector<std::uint64_t> switches;  // launches that begin another phase: evaluation, training…
};
// Alternates `train` iterations and `eval` iterations of which only the first `forward` part is
// launched.
PhasedStream with_evaluation(const LabelledStream& from, std::size_t train, std::size_t eval,
                             double forward);

}  // namespace hypermile
