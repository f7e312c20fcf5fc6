// SPDX-License-Identifier: Apache-2.0
//
// Turns the description of a PyTorch module (type, shapes, parameters, a few attributes) into a
// Layer. The readers of the PyTorch export and of layer times give what they know; the rest is
// derived from the shapes. An operator that PyTorch ran outside of such a module says itself what
// it computes and moves. A type outside the table that does not counts as element-wise, and reads
// its inputs and writes its outputs once.
#pragma once

#include <optional>
#include <string>

#include "plan/layer.h"
#include "plan/layer_makers.h"

namespace hypermile {

// What the export says of an operator that ran outside of the modules in the table.
struct TorchOperator {
  OpClass op = OpClass::kElementwise;
  std::optional<Product> product = {};
  std::optional<double> flops = {};  // without it and a product: one for each value of the output
  double values_in = 0;              // without parameters
  double values_out = 0;
  double bytes = 0;      // of values with a width of their own
  double recompute = 0;  // share of the forward product that the backward pass repeats
};

struct TorchLayer {
  std::string name;
  std::string type;  // the module's class, such as "Conv2d"
  Shape in, out;
  double params = 0;
  double inputs = 0;  // elements of all data inputs; 0 where `in` is the only one
  std::optional<SlidingWindow> window = {};
  std::optional<std::int64_t> groups = {};
  std::optional<bool> bias = {};
  std::optional<std::int64_t> entries = {};  // rows of an embedding
  std::optional<TorchOperator> traced = {};
  double repeat = 1;
  std::optional<double> updated = {};
  bool weight_gradient = true;
  bool input_gradient = true;
};

struct MadeLayer {
  Layer layer;
  bool known = true;
};

// Returns kParse where shapes are empty, not positive, implausibly large or do not fit the type.
Result<MadeLayer> make_torch_layer(const TorchLayer& description);

// Returns kParse unless the shape has 1 to 16 dimensions with positive extents.
Result<void> check_shape(const Shape& shape, const std::string& what);

}  // namespace hypermile
