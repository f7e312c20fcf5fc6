// SPDX-License-Identifier: Apache-2.0
//
// What bounds a model needs that was trained on one card and is asked about another: learnt from
// pairs of cards of different families, each sweep's card training a model that is asked about all
// others. At clocks alone: few cards were measured under limits. kCardPairScales (model.h) is what
// came out; predict_evidence tells it anew, and without the family that it then tests.
#pragma once

#include <span>

#include "predict/train.h"

namespace hypermile {

// Cards of the same name in several sweeps count as several. Those with too few workloads to train
// on are asked about alone.
Result<BoundScales> card_pair_scales(std::span<const Example> examples,
                                     const TrainingOptions& options);

}  // namespace hypermile
