// SPDX-License-Identifier: Apache-2.0
//
// Translates NVML's return codes into Errors with a remedy. Pure functions over one table.
#pragma once

#include <string_view>

#include "base/result.h"
#include "gpu/nvml/nvml_abi.h"

namespace hypermile {

// `what` is what was tried, such as "read the power limit". A code that is not in the table gives
// kInternal with its number.
Error nvml_error(nvml::Return code, std::string_view what);

// True if the GPU or the whole driver cannot be reached, so that no other call can succeed. Any
// other failure of a reader only means that one value is unknown.
bool out_of_reach(nvml::Return code);

}  // namespace hypermile
