// SPDX-License-Identifier: Apache-2.0
//
// Makes the rows to which one relation is fitted. Called by fit_model.cpp; nothing here fails.
#pragma once

#include <functional>
#include <span>

#include "predict/model.h"

namespace hypermile {

// The rows of one relation from the examples for which `taken` is true. The SM relation takes
// ratios to the highest SM clock at the same memory clock; the others take rows in which only their
// own knob is moved. Every job has the same total weight, whatever the number of its rows.
std::vector<RidgeRow> relation_rows(Knob knob, Target target, std::span<const Example> examples,
                                    const std::function<bool(std::size_t)>& taken);

}  // namespace hypermile
