// SPDX-License-Identifier: Apache-2.0
//
// What the processors and, where the machine tells it, the memory of the host have used, by the
// RAPL counters that the kernel shows under powercap. Other parts of the host have no counter and
// are not guessed. Most machines let only root read these files; then nothing is known. run/ polls
// it once a second while a job runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace hypermile {

class HostEnergy {
 public:
  // Finds the counters below `folder`, which is /sys/class/powercap on a real machine.
  explicit HostEnergy(const std::string& folder);

  // Reads the counters. They wrap around, at full load after some twenty minutes, so call it more
  // often than that. A counter that cannot be read any more makes the sum unknown.
  void poll();

  // Since this object was made; nullopt where no counter can be read.
  std::optional<Joules> used() const;
  // "package-0, dram-0"; "" where there are none.
  std::string zones() const;

 private:
  struct Zone {
    std::string name;
    std::string path;            // of energy_uj
    std::uint64_t range_uj = 0;  // where the counter begins again at 0
    std::uint64_t last_uj = 0;
  };

  std::vector<Zone> zones_;
  double used_j_ = 0;
  bool broken_ = false;
};

// $HYPERMILE_POWERCAP, or where the kernel has it.
std::string powercap_folder();

}  // namespace hypermile
