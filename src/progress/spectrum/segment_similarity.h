// SPDX-License-Identifier: Apache-2.0
//
// How unlike each other consecutive stretches of a series are if it is cut every T: the measure by
// which GPOEO's period detector chooses among its candidates. Constants are its authors'.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace hypermile {

// `period` in samples, not whole. `longest` is the longest candidate: against it a short one is
// judged by its worst stretches, lest it win on the plateaus of a longer period. nullopt where
// fewer than two stretches fit.
std::optional<double> dissimilarity(std::span<const double> series, double period, double longest);

}  // namespace hypermile
