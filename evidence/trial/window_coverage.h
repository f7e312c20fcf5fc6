// SPDX-License-Identifier: Apache-2.0
//
// Do the errors of windows hold? Runs a long simulated job, cuts it into
// windows, and counts how often the 95 % interval of a window holds the run's own mean of time,
// energy and power. For the test and for docs/evidence/windows.md.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "sim/gpu_sheet.h"
#include "sim/sim_state.h"
#include "sim/workload.h"

namespace hypermile {

// How the starts of iterations are known.
enum class TickSource {
  kExact,      // ticks at the instants at which the GPU begins
  kGpuEvents,  // a host that runs ahead of the GPU, and a GPU event at most every 50 ms
  kHostAlone,  // the same host, no events
};

struct CoverageCase {
  GpuSheet sheet;
  Workload workload;  // only its first phase runs
  Effects effects = {0, 0, 0, 0};
  TickSource ticks = TickSource::kExact;
  Seconds window = Seconds(4);
  int windows = 200;
  std::uint64_t seed = 1;
};

// The intervals of one quantity.
struct Covered {
  int given = 0;            // intervals
  int holding = 0;          // intervals that hold the run's mean
  double mean_error = 0;    // relative standard error that the windows give, on average
  double true_scatter = 0;  // relative standard deviation of the windows from the run's mean
  double share() const { return given > 0 ? static_cast<double>(holding) / given : 0; }
  void add(const Covered& other);
};

struct Coverage {
  double iteration_s = 0;  // mean time of an iteration
  Covered time;
  Covered energy;
  Covered power;
  int refused = 0;  // windows that are not usable
  // Another run of the same case.
  void add(const Coverage& other);
};

// kIo where no ring can be made.
Result<Coverage> cover(const CoverageCase& one);

}  // namespace hypermile
