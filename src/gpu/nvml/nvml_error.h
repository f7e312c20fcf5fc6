// SPDX-License-Identifier: Apache-2.0
//
// What NVML's return codes mean to hypermile: one table from code to Error with a remedy.
#pragma once

#include <string_view>

#include "base/result.h"
#include "gpu/nvml/nvml_abi.h"

namespace hypermile {

// `what` is the thing that was tried ("read the power limit"). Codes that NVML may add later come
// out as kInternal with their number.
Error nvml_error(nvml::Return code, std::string_view what);

// The GPU or the driver as a whole is out of reach, so that no other call will do better. All other
// failures of a reader only mean that this one value is not known.
bool out_of_reach(nvml::Return code);

}  // namespace hypermile
