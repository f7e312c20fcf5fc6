// SPDX-License-Identifier: Apache-2.0
//
// Iterations that the launch detector finds in a simulated job, against the truth: for the test and
// for docs/evidence/detected-suite.md.
#pragma once

#include <string>

#include "sim/gpu_sheet.h"
#include "sim/workload.h"

namespace hypermile {

struct Detected {
  std::string workload;
  double iteration_s = 0;  // true mean
  double launches = 0;     // in a true iteration
  bool aperiodic = false;
  std::uint32_t micro_batches = 1;  // true
  bool locked = false;
  double first_lock_s = 0;
  double units_per_iteration = 1;  // what was counted: micro-batches, iterations or epochs
  double counted = 0;              // while locked, in true iterations
  double truth = 0;                // true ones in the same stretches
  double stretches = 0;            // that were counted
  // Off by more than 2 % and two iterations a stretch: the host is ahead by up to one at its ends.
  bool wrong() const;
};

// Watches the job for `seconds` at the default and as long again at half the SM clock.
Detected detect_iterations(const GpuSheet& sheet, const Workload& workload, double seconds,
                           std::uint64_t seed);

}  // namespace hypermile
