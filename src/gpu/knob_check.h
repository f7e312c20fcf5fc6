// SPDX-License-Identifier: Apache-2.0
//
// Is a Setting one that a GPU can take? Asked before a driver is bothered, so that the answer can
// name what would have been right. Used by every Gpu that accepts Settings.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/units.h"
#include "gpu/gpu.h"

namespace hypermile {

// The entry of `supported` (descending) within 1 MHz of `wanted`; else an error that names the
// nearest ones. `what` is "SM clock" or "memory clock".
Result<Mhz> supported_clock(std::string_view what, Mhz wanted, std::span<const Mhz> supported);

Result<void> check_power_limit(Watts wanted, const std::optional<Range>& range);

// Success, or why nobody may control this GPU.
Result<void> check_barrier(ControlBarrier barrier);

}  // namespace hypermile
