// SPDX-License-Identifier: Apache-2.0
//
// The kernel launches of a finished stretch of a simulated job, in order of time: what a library
// in the training process would have seen. Only for those who ask; the simulator itself never
// makes them.
#pragma once

#include <cstdint>

#include "sim/advance.h"
#include "sim/load.h"

namespace hypermile {

class LaunchSink {
 public:
  virtual ~LaunchSink() = default;
  virtual void launch(double time_s, std::uint32_t kernel) = 0;
};

void emit_launches(const FinishedUnit& unit, const Load& load, LaunchSink& sink);

}  // namespace hypermile
