// SPDX-License-Identifier: Apache-2.0
//
// Trains a model on examples. Jobs are dealt into parts by workload, and each member of an ensemble
// is trained without one part: so what a member says of the part it has not seen is an honest
// error, and the bounds are set from these (conformal calibration). Where there are several
// families of cards, each is also left out once, for the bounds on a card that nobody has seen.
#pragma once

#include <cstdint>
#include <span>

#include "predict/boosting.h"
#include "predict/model.h"

namespace hypermile {

struct TrainingOptions {
  ModelKind kind = ModelKind::kBoosted;
  std::size_t members = 5;  // each without one part of the workloads
  std::size_t whole = 2;    // with all of them
  BoostingOptions boosting;
  unsigned threads = 0;     // 0: one per core
  bool leave_cards = true;  // find out how it does on a new card; takes a few trainings by family
  BoundScales new_card =
      kCardPairScales;  // at clocks, where there are too few families to find out
};

// kUsage with fewer than two workloads: nothing could be left out. The same examples and options
// give the same model, whatever the threads.
Result<Model> train(std::span<const Example> examples, const TrainingOptions& options);

}  // namespace hypermile
