// SPDX-License-Identifier: Apache-2.0
//
// "Did you mean …": finds the known names that are nearest to what a person typed. Pure functions,
// used in error messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hypermile {

// At most `limit` names of `known`, nearest first; only names close enough to be a likely slip.
std::vector<std::string> nearest_names(std::string_view typed, std::span<const std::string> known,
                                       std::size_t limit = 3);

// "did you mean a, b or c?", or "known: a, b, c, …" when nothing is near; "" when `known` is empty.
std::string suggestion(std::string_view typed, std::span<const std::string> known);

}  // namespace hypermile
