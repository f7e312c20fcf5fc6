// SPDX-License-Identifier: Apache-2.0
//
// Turns one node of an ONNX graph, given as plain data, into a Layer. The .cpp file has the table
// of operators; an operator outside it counts as element-wise, and reads its inputs and writes its
// outputs once. Called by onnx_file.cpp.
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
  bool weight = false;          // whether the file stores its values
  bool small_integers = false;  // shapes and indices, which cost nothing on the GPU
};

struct OnnxNode {
  std::string name;
  std::string type;
  std::vector<OnnxTensor> inputs;  // without omitted optional inputs
  std::vector<OnnxTensor> outputs;
  std::map<std::string, std::vector<std::int64_t>> integers;  // attributes by name
};

// nullopt for nodes that run nothing on the GPU; kParse where shapes do not fit the operator. The
// reader makes sure that every shape is positive.
Result<std::optional<MadeLayer>> make_onnx_layer(const OnnxNode& node);

}  // namespace hypermile
