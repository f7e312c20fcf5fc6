// SPDX-License-Identifier: Apache-2.0
//
// Synthetic launch streams: some without any period, on which a detector must stay silent, and jobs
// whose iterations take seconds, on whose layers it must not lock.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "evidence/progress/labelled_stream.h"

namespace hypermile {

struct AperiodicKind {
  std::string name;
  std::function<LabelledStream(Seconds lasting, Random& random)> make;
};
// Bursts of random products, independent launches, a Markov chain, routines called at random, and a
// random walk of the mixture.
const std::vector<AperiodicKind>& aperiodic_kinds();

struct Transformer {
  std::size_t layers = 96;
  std::size_t forward_launches = 24;   // per layer
  std::size_t backward_launches = 48;  // per layer
  std::size_t optimizer_launches = 120;
  Seconds forward{3};
  Seconds backward{6};
  std::size_t iterations = 12;
  double jitter = 0.05;  // relative, of the pace
};
LabelledStream make_transformer(const Transformer& shape, Random& random);

// A recurrent network as a loop of the framework: `least` to `most` time steps forward, as many
// backward, then an optimizer.
LabelledStream make_recurrent(std::size_t least, std::size_t most, std::size_t iterations,
                              Random& random);

// Each iteration launches one graph, and `kernels` kernels of other names.
LabelledStream make_graph_loop(std::size_t kernels, Seconds period, std::size_t iterations,
                               Random& random);

}  // namespace hypermile
