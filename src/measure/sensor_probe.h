// SPDX-License-Identifier: Apache-2.0
//
// Measures what a GPU's sensors can do: which exist, what a call costs the caller, and how often
// the value really changes. `doctor` shows the result; nothing is assumed from the model's name. A
// sensor that cannot be read is reported with its reason, so the probe itself does not fail.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "gpu/gpu.h"

namespace hypermile {

struct SensorReport {
  std::string name;  // "power_instant", "energy", …, "power_history", "activity"
  bool present = false;
  std::string value;               // the last reading, for people
  std::optional<Seconds> cost;     // median of one call
  std::optional<Seconds> refresh;  // median time between two changes of the value
  std::string note;                // why the sensor is absent, or that its value never changed
};

// Blocks for about three times `watch`. Changes nothing on the GPU.
std::vector<SensorReport> probe_sensors(Gpu& gpu, Clock& clock, Seconds watch,
                                        std::stop_token stop = {});

}  // namespace hypermile
