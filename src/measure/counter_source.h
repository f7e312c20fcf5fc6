// SPDX-License-Identifier: Apache-2.0
//
// Somebody who reads a GPU's performance counters for a while, where NVML cannot tell what they
// say. Off unless the user asks for it (--counters): it may cost the job a little. Neither call
// waits for anything; whatever goes wrong, features are missing and `problem` says why.
#pragma once

#include <cstddef>
#include <string>

#include "measure/features.h"

namespace hypermile {

struct CounterReading {
  Features features;        // of those that counters tell
  std::size_t samples = 0;  // that they are the mean of
  std::string problem;      // one line; empty where all went well
};

class CounterSource {
 public:
  virtual ~CounterSource() = default;

  // From now on, until end() or until it has seen enough.
  virtual void begin(const GpuIdentity& gpu) = 0;
  // What was read since begin(). Without one before it: nothing.
  virtual CounterReading end() = 0;
};

}  // namespace hypermile
