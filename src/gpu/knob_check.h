// SPDX-License-Identifier: Apache-2.0
//
// Checks whether a GPU can take a Setting before the driver is called, so that the error can name
// valid values. Every Gpu that accepts Settings uses it. Pure functions.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "gpu/gpu.h"

namespace hypermile {

// The entry of `supported` (descending) within 1 MHz of `wanted`; otherwise an error that names the
// nearest entries. `what` is "SM clock" or "memory clock".
Result<Mhz> supported_clock(std::string_view what, Mhz wanted, std::span<const Mhz> supported);

Result<void> check_power_limit(Watts wanted, const std::optional<Range>& range);

// Success, or why nobody may control this GPU.
Result<void> check_barrier(ControlBarrier barrier);

}  // namespace hypermile
