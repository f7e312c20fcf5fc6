// SPDX-License-Identifier: Apache-2.0
//
// Finds out what a GPU's sensors are worth: which exist, what a call costs the caller, and how
// often the value really changes. `doctor` shows it; nothing is assumed from the model's name.
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
  std::optional<Seconds> cost;     // of one call, median
  std::optional<Seconds> refresh;  // between two changes of the value, median
  std::string note;                // why it is absent, or that it never changed
};

// Takes about three times `watch`. Only reads.
std::vector<SensorReport> probe_sensors(Gpu& gpu, Clock& clock, Seconds watch,
                                        std::stop_token stop = {});

}  // namespace hypermile
