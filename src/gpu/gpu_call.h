// SPDX-License-Identifier: Apache-2.0
//
// The kinds of call on a Gpu, under the names that fault scripts and recordings use.
#pragma once

#include <array>
#include <string_view>

namespace hypermile {

enum class GpuCall { kRead, kPowerHistory, kActivity, kProcesses, kApply, kReset };
inline constexpr std::size_t kGpuCallKinds = 6;

constexpr std::string_view to_string(GpuCall call) {
  constexpr std::array<std::string_view, kGpuCallKinds> kNames = {
      "read", "power_history", "activity", "processes", "apply", "reset"};
  return kNames[static_cast<std::size_t>(call)];
}

}  // namespace hypermile
