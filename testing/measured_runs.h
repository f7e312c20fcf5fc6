// SPDX-License-Identifier: Apache-2.0
//
// For tests: events of a GPU that is measured while a policy searches.
#pragma once

#include <cstdint>
#include <utility>

#include "record/event.h"

namespace hypermile {

inline Event event_at(double seconds, EventBody body) {
  return {Instant() + Seconds(seconds), std::move(body)};
}

// One GPU of one process.
struct MeasuredGpu {
  GpuUuid gpu;

  // A window of ten iterations.
  WindowEvent window(const Setting& setting, double time_s, double power_w,
                     std::uint32_t phase = 0) const {
    Window window;
    window.setting = setting;
    window.duration = Seconds(10 * time_s);
    window.iterations = 10;
    window.time_per_iteration = Seconds(time_s);
    window.power = Watts(power_w);
    window.pattern = PatternId{phase, 0};
    return {gpu, window, 42};
  }

  Decision decision(const Setting& setting, bool exploring) const {
    return {gpu, "hypermile", setting, "because", 0.9, {{"exploring", exploring ? 1.0 : 0.0}}};
  }
};

}  // namespace hypermile
