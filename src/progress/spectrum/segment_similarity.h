// SPDX-License-Identifier: Apache-2.0
//
// How different consecutive stretches of a series are if it is cut every T. GPOEO's period detector
// chooses among its candidates by this measure. The constants are its authors'. A pure function.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace hypermile {

// `period` is in samples and need not be whole. `longest` is the longest candidate; a shorter one
// is judged by its worst stretches, so that it cannot win on the plateaus of a longer period.
// nullopt if fewer than two stretches fit.
std::optional<double> dissimilarity(std::span<const double> series, double period, double longest);

}  // namespace hypermile
