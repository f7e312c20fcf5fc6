// SPDX-License-Identifier: Apache-2.0
//
// Finds the bounds that a model of one card needs on another card. Each card of each sweep trains a
// model, and that model predicts the jobs on all cards of other families. Only rows at clocks
// count, because few cards were measured under limits; a card that has none teaches nothing here.
// The result for the published sweeps is kCardPairScales in model.h; predict_evidence computes it
// again, leaving out the family that it tests.
#pragma once

#include <span>

#include "predict/train.h"

namespace hypermile {

// A card that occurs in several sweeps counts once for each. Cards with fewer than 8 workloads are
// predicted but train no model. Fails where train() fails.
Result<BoundScales> card_pair_scales(std::span<const Example> examples,
                                     const TrainingOptions& options);

}  // namespace hypermile
