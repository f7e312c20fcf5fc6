// SPDX-License-Identifier: Apache-2.0
//
// Tests whether the simulator's formula can describe measured GPUs, by fitting it to every curve of
// one GPU: voltage, static power and memory once per GPU, and three numbers per workload (share of
// waiting, compute against memory, watts of the core). Time is relative to the default's. Cannot
// fail.
#pragma once

#include <string>
#include <vector>

#include "sweep/curve.h"

namespace hypermile {

struct CurveError {
  std::string workload;    // including phase and variant
  std::size_t points = 0;  // without the default
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

// Values for rows that lack them: the card's default clocks and its power limit. 0: unknown.
struct GpuHints {
  Mhz boost = Mhz(0);
  Watts limit = Watts(0);
  Mhz memory = Mhz(0);
};

// The middle value; the upper one of an even number. 0 where there is none.
double median(std::vector<double> values);

GpuFit fit_gpu(const std::string& gpu, const std::vector<const Curve*>& curves,
               const GpuHints& hints);

}  // namespace hypermile
