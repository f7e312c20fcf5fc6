// SPDX-License-Identifier: Apache-2.0
//
// From one node of an ONNX graph, as plain data, to a Layer. The table of operators is in the .cpp;
// what is not in it is element-wise: reads its inputs and writes its outputs once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/torch_layer.h"

namespace hypermile {

struct OnnxTensor {
  std::string name;
  Shape shape;
  bool weight = false;          // stored in the file
  bool small_integers = false;  // shapes and indices, computed on the host or at once
};

struct OnnxNode {
  std::string name;
  std::string type;
  std::vector<OnnxTensor> inputs;  // those that are given
  std::vector<OnnxTensor> outputs;
  std::map<std::string, std::vector<std::int64_t>> integers;  // attributes
};

// nullopt for nodes that run nothing on a GPU. Every shape is positive: the reader sees to it.
Result<std::optional<MadeLayer>> make_onnx_layer(const OnnxNode& node);

}  // namespace hypermile
