// SPDX-License-Identifier: Apache-2.0
//
// Fits the efficiency constants of a GPU to measured times of single layers: least squares of the
// logarithm of predicted over measured, robust against rows that were disturbed, with the prior
// constants as a mild pull, so that what a file does not show stays at its default. And says how
// good constants are on a file.
#pragma once

#include <span>

#include "plan/efficiency.h"
#include "plan/layer_times.h"
#include "sim/gpu_sheet.h"

namespace hypermile {

// `times` were measured at the sheet's boost and default memory clock.
Efficiency calibrate(const GpuSheet& sheet, std::span<const LayerTime> times,
                     const Efficiency& prior);

struct CalibrationScore {
  std::size_t shapes = 0;
  double mean_error = 0;   // mean over shapes and passes of |predicted / measured − 1|
  double total_error = 0;  // all layers together, as often as they occur: predicted/measured − 1
  double forward_error = 0;  // the same of each pass alone
  double backward_error = 0;
};
CalibrationScore score_calibration(const GpuSheet& sheet, std::span<const LayerTime> times,
                                   const Efficiency& efficiency);

}  // namespace hypermile
