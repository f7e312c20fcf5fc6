// SPDX-License-Identifier: Apache-2.0
//
// From examples to the rows that one relation is fitted to. Only train.cpp and its tests use it.
#pragma once

#include <functional>
#include <span>

#include "predict/model.h"

namespace hypermile {

// Rows of `relation` from the examples that `taken` accepts. The SM relation takes ratios to the
// highest SM clock at the same memory clock; the others take rows in which they alone are moved.
// Weights make every job count alike, whatever the number of its rows, and follow the squared
// lever, so that the error of the ratio is what is least.
std::vector<RidgeRow> relation_rows(Knob knob, Target target, std::span<const Example> examples,
                                    const std::function<bool(std::size_t)>& taken);

}  // namespace hypermile
