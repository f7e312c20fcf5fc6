// SPDX-License-Identifier: Apache-2.0
//
// How far a simulated job has come, as one of several ways of seeing it would tell: exact ticks of
// the framework (tick_reader.h), or the stream of launches through the real detector
// (launch_reader.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.h"

namespace hypermile {

struct Tick {
  std::uint64_t iteration = 0;           // number of the training iteration that began
  Instant time;                          // of the host
  std::uint64_t launch = 0;              // that opened it; 0 for ticks of the framework
  std::optional<Seconds> gpu_time = {};  // where an event was recorded there
};

class ProgressReader {
 public:
  virtual ~ProgressReader() = default;
  // Those since the last call, in order. They may come late, but never out of order.
  virtual std::vector<Tick> take() = 0;
};

}  // namespace hypermile
