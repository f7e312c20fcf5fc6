// SPDX-License-Identifier: Apache-2.0
//
// models/search_prior.csv, compiled in so that a search never depends on where it is installed.
#pragma once

#include <string_view>

namespace hypermile {

extern const std::string_view kSearchPriorTable;

}  // namespace hypermile
