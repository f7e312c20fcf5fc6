// SPDX-License-Identifier: Apache-2.0
//
// Is the simulator's form able to describe measured GPUs? Fits it to every curve of one GPU:
// voltage, static power and memory once for the GPU, and three numbers a workload (share of
// waiting, compute against memory, watts of the core). Time is scaled to the default's.
#pragma once

#include <string>
#include <vector>

#include "sweep/curve.h"

namespace hypermile {

struct CurveError {
  std::string workload;    // with phase and variant
  std::size_t points = 0;  // beside the default
  double time = 0;         // median absolute relative error over the points
  double energy = 0;
  double worst_time = 0, worst_energy = 0;
  std::string worst_at;  // the Setting of the largest energy error
};

struct GpuFit {
  std::string gpu;
  double static_w = 0, knee_mhz = 0, slope_per_mhz = 0;
  std::vector<CurveError> curves;
};

// Where a row says nothing: the clocks the card runs at by default, and its power limit. 0:
// unknown.
struct GpuHints {
  Mhz boost = Mhz(0);
  Watts limit = Watts(0);
  Mhz memory = Mhz(0);
};

GpuFit fit_gpu(const std::string& gpu, const std::vector<const Curve*>& curves,
               const GpuHints& hints);

}  // namespace hypermile
