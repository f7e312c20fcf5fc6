// SPDX-License-Identifier: Apache-2.0
//
// Reads measured times of single layers from a CSV file. Its columns are model, batch, precision,
// layer, type, in_shape, out_shape, params, fwd_us, bwd_us (shapes as in 64x3x224x224), and
// optionally groups (of a convolution) and setting; rows whose setting is not "default" are
// skipped. Disturbances only lengthen the time of a layer, so the smallest time of each distinct
// shape counts. Called by `hypermile plan --calibrate`.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "plan/layer.h"

namespace hypermile {

struct LayerTime {
  std::string model;
  Precision precision = Precision::kTf32;
  Layer layer;            // the first row with this shape
  std::size_t count = 1;  // number of rows with this shape
  bool known = true;      // whether the table of modules has its type
  double forward_s = 0, backward_s = 0;

  std::vector<Kernel> forward_kernels() const;
  std::vector<Kernel> backward_kernels() const;
};

// One entry for each distinct shape, in the file's order. Returns kNotFound for a missing file, and
// kParse with file and line for a bad row.
Result<std::vector<LayerTime>> read_layer_times(std::istream& in, const std::string& name);
Result<std::vector<LayerTime>> read_layer_times(const std::string& path);

}  // namespace hypermile
