// SPDX-License-Identifier: Apache-2.0
//
// The energy counters of GPUs through NVML, for libhypermile.so: the few functions that it needs,
// found at run time, reading only. It lives inside other people's programs, so it calls nothing but
// C, throws nothing, and leaves NVML loaded because the program may use it too.
#pragma once

#include <cstddef>

namespace hypermile {

inline constexpr std::size_t kMostCounters = 32;
inline constexpr std::size_t kCounterReason = 192;

struct EnergyCounters {
  void* devices[kMostCounters] = {};  // NVML's handles
  unsigned count = 0;
  char reason[kCounterReason] = "";  // why there are none

  // Those that `gpus` names, as hypermile_window_begin() tells. On failure `reason` says why.
  void open(const char* gpus);
  // Joules since the driver was loaded, one a device; false with a reason if one does not tell.
  bool read(double (&joules)[kMostCounters]);
};

}  // namespace hypermile
