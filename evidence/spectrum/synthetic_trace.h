// SPDX-License-Identifier: Apache-2.0
//
// Made-up NVML recordings with a known answer, for the test of the spectral detector and for
// docs/evidence/spectrum.md: training iterations of a few power plateaus, seen through sensors like
// an H200's, and noise in which nothing repeats.
#pragma once

#include <cstdint>

#include "progress/spectrum/nvml_trace.h"

namespace hypermile {

struct SyntheticTraceOptions {
  double period_s = 1;
  double jitter = 0.01;      // relative, of single iterations
  double seconds = 60;       // length of the recording
  double noise_w = 4;        // of each power reading
  double poll_s = 0.1;       // between two rows
  double average_s = 0.025;  // averaging time of a power reading: 0.025 on Hopper, 1 on Ampere
  int inner = 1;             // repetitions of all plateaus but the last within an iteration
  bool busy = false;         // utilisation stays at 100 %, because the GPU never waits
  bool counter = true;
  std::uint64_t seed = 1;
};
struct SyntheticTrace {
  NvmlTrace trace;
  double period_s = 0;  // mean period of the drawn iterations
};
SyntheticTrace synthetic_trace(const SyntheticTraceOptions& job);

enum class NoiseKind { kWhite, kRed, kPink, kRandomWalk, kBursts };
NvmlTrace noise_trace(NoiseKind kind, double seconds, std::uint64_t seed);

}  // namespace hypermile
