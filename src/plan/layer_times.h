// SPDX-License-Identifier: Apache-2.0
//
// Measured times of single layers, as a CSV file with the columns model, batch, precision, layer,
// type, in_shape, out_shape, params, fwd_us, bwd_us (shapes written 64x3x224x224) and optionally
// groups (of a convolution) and setting: rows of another one than "default" are passed over.
// Measurements of single layers scatter upwards (other work on the card, slow launches), so the
// smallest time of each distinct shape counts.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "plan/layer.h"

namespace hypermile {

struct LayerTime {
  std::string model;
  Precision precision = Precision::kTf32;
  Layer layer;            // of the first row with this shape
  std::size_t count = 1;  // rows with this shape
  double forward_s = 0, backward_s = 0;

  std::vector<Kernel> forward_kernels() const;
  // A layer measured alone adds its gradients to those that are there (autograd's leaves), which
  // inside a network happens to no tensor: read twice, written once.
  std::vector<Kernel> backward_kernels() const;
};

// One entry a distinct shape, in the file's order. kParse with file and line for what is broken.
Result<std::vector<LayerTime>> read_layer_times(std::istream& in, const std::string& name);
Result<std::vector<LayerTime>> read_layer_times(const std::string& path);

}  // namespace hypermile
