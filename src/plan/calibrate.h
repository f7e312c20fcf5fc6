// SPDX-License-Identifier: Apache-2.0
//
// Fits the efficiency constants of a GPU to measured times of single layers, and scores constants
// on a file of such times. The fit is least squares of log(predicted / measured), robust against
// disturbed rows. The prior constants pull mildly, so that a constant which the file does not show
// stays at its default. Called by `hypermile plan --calibrate`; pure.
#pragma once

#include <span>

#include "plan/efficiency.h"
#include "plan/layer_times.h"
#include "sim/gpu_sheet.h"

namespace hypermile {

// `times` must have been measured at the sheet's boost and default memory clocks.
Efficiency calibrate(const GpuSheet& sheet, std::span<const LayerTime> times,
                     const Efficiency& prior);

struct CalibrationScore {
  std::size_t shapes = 0;
  double mean_error = 0;     // mean over shapes and passes of |predicted / measured − 1|
  double total_error = 0;    // predicted / measured − 1 of all layers, each as often as it occurs
  double forward_error = 0;  // the same for the forward passes
  double backward_error = 0;  // the same for the backward passes
};
CalibrationScore score_calibration(const GpuSheet& sheet, std::span<const LayerTime> times,
                                   const Efficiency& efficiency);

}  // namespace hypermile
