// SPDX-License-Identifier: Apache-2.0
//
// From a PyTorch module as it is written down (type, shapes, parameters, a few attributes) to a
// Layer. Used by the reader of our PyTorch export and by that of per-layer times; both give what
// they know, the rest is derived from the shapes. Types that are not in the table are element-wise:
// they read their inputs and write their outputs once.
#pragma once

#include <optional>
#include <string>

#include "plan/layer.h"
#include "plan/layer_makers.h"

namespace hypermile {

struct TorchLayer {
  std::string name;
  std::string type;  // class of the module: "Conv2d"
  Shape in, out;
  double params = 0;
  double inputs = 0;  // elements of all data inputs; 0: that of `in`
  std::optional<SlidingWindow> window = {};
  std::optional<std::int64_t> groups = {};
  std::optional<bool> bias = {};
  std::optional<std::int64_t> entries = {};  // of an embedding
};

struct MadeLayer {
  Layer layer;
  bool known = true;
};

// kParse where shapes are empty, not positive, absurdly large or do not fit the type.
Result<MadeLayer> make_torch_layer(const TorchLayer& description);

// kParse unless there is a dimension and every extent is 1 or more.
Result<void> check_shape(const Shape& shape, const std::string& what);

}  // namespace hypermile
