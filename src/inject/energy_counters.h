// SPDX-License-Identifier: Apache-2.0
//
// Reads GPUs' energy counters through NVML for libhypermile.so, with the few functions that this
// needs, found at run time. It runs inside other people's programs, so it uses only C, never
// throws, and leaves NVML loaded because the program may use it too.
#pragma once

#include <cstddef>

namespace hypermile {

inline constexpr std::size_t kMostCounters = 32;
inline constexpr std::size_t kCounterReason = 192;

struct EnergyCounters {
  void* devices[kMostCounters] = {};  // NVML's handles
  unsigned count = 0;
  char reason[kCounterReason] = "";  // why there are no counters

  // Opens the counters of the GPUs that `gpus` names, in the form that hypermile_window_begin()
  // takes. On failure `count` is 0 and `reason` says why.
  void open(const char* gpus);
  // Joules since the driver was loaded, one value per device. False, with a reason, if any device
  // fails.
  bool read(double (&joules)[kMostCounters]);
};

}  // namespace hypermile
