// SPDX-License-Identifier: Apache-2.0
//
// Trains a model on examples. Workloads are dealt into parts, and each member of the ensemble is
// trained without one part: its errors on that part are honest, and the bounds are set from them
// (conformal calibration). With several families of cards, each family is also left out once, to
// set the bounds for unknown cards. Called by `learn` and predict_evidence.
#pragma once

#include <cstdint>
#include <span>

#include "predict/boosting.h"
#include "predict/model.h"

namespace hypermile {

struct TrainingOptions {
  ModelKind kind = ModelKind::kBoosted;
  std::size_t members = 5;  // each is trained without one part of the workloads
  std::size_t whole = 2;    // these are trained with all parts
  BoostingOptions boosting;
  unsigned threads = 0;     // 0 for one per core
  bool leave_cards = true;  // measure the errors on unknown cards, with a few trainings per family
  BoundScales new_card =
      kCardPairScales;  // for unknown cards at clocks, where there are too few families
};

// Returns kUsage with fewer than two workloads, as none could be left out. The same examples and
// options give the same model, whatever the number of threads.
Result<Model> train(std::span<const Example> examples, const TrainingOptions& options);

}  // namespace hypermile
