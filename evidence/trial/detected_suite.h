// SPDX-License-Identifier: Apache-2.0
//
// Iterations that are found in the launches of a simulated job, compared with the truth. For the
// test and for docs/evidence/detected-suite.md.
#pragma once

#include <string>

#include "base/result.h"
#include "sim/gpu_sheet.h"
#include "sim/workload.h"

namespace hypermile {

struct Detected {
  std::string workload;
  double iteration_s = 0;  // true mean
  double launches = 0;     // per true iteration
  bool aperiodic = false;
  std::uint32_t micro_batches = 1;  // true
  bool locked = false;
  double first_lock_s = 0;
  double units_per_iteration = 1;  // what was counted: micro-batches, iterations or epochs
  double counted = 0;              // while locked, in true iterations
  double truth = 0;                // true iterations in the same stretches
  double stretches = 0;            // stretches of training that were counted
  // The count is off by more than 2 % and two iterations for each stretch. A host is ahead of its
  // GPU by up to one iteration at both ends of a stretch.
  bool wrong() const;
};

// Watches the job for `seconds` at the default and as long again at half the SM clock. kIo where no
// ring can be made.
Result<Detected> detect_iterations(const GpuSheet& sheet, const Workload& workload, double seconds,
                                   std::uint64_t seed);

}  // namespace hypermile
