// SPDX-License-Identifier: Apache-2.0
//
// Do the errors of Windows hold? Cuts a long simulated run into Windows and counts how often the
// 95 % interval of each holds the run's own mean: of time, energy and power. For the test and for
// docs/evidence/windows.md.
#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "sim/gpu_sheet.h"
#include "sim/sim_state.h"
#include "sim/workload.h"

namespace hypermile {

// What is known of where iterations begin.
enum class TickSource {
  kExact,      // ticks at the instant on the GPU
  kGpuEvents,  // a host that runs ahead of the GPU, and a GPU event at most every 50 ms
  kHostAlone,  // the same host, no events
};

struct CoverageCase {
  GpuSheet sheet;
  Workload workload;  // its first phase alone is run
  Effects effects = {0, 0, 0, 0};
  TickSource ticks = TickSource::kExact;
  Seconds window = Seconds(4);
  int windows = 200;
  std::uint64_t seed = 1;
};

// Of one quantity: how many intervals were given, how many hold the run's mean, and how wide they
// and the true scatter are, relative.
struct Covered {
  int given = 0;
  int holding = 0;
  double mean_error = 0;
  double true_scatter = 0;
  double share() const { return given > 0 ? static_cast<double>(holding) / given : 0; }
  void add(const Covered& other);
};

struct Coverage {
  double iteration_s = 0;  // mean
  Covered time;
  Covered energy;
  Covered power;
  int refused = 0;
  // Another run of the same.
  void add(const Coverage& other);
};

Coverage cover(const CoverageCase& one);

}  // namespace hypermile
