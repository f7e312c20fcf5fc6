// SPDX-License-Identifier: Apache-2.0
//
// Networks from files: ONNX (.onnx) and the JSON that our Python package exports from PyTorch
// (.json, docs/reference/network-file.md). Both readers take any bytes: what is broken, dynamic or
// of size zero is an Error that names what and where; operators that are not known are counted and
// named in the Network and cost what an element-wise layer does.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "plan/layer.h"

namespace hypermile {

// A built-in network by name, or a file by its ending. `batch` is that of a built-in network (1
// without it) and of an ONNX file whose first dimension is left open; where a file has a batch
// of its own, another one is kUsage.
Result<Network> open_network(const std::string& name, std::optional<std::int64_t> batch);

// `file` is for messages.
Result<Network> parse_onnx(std::string_view bytes, const std::string& file,
                           std::optional<std::int64_t> batch);
Result<Network> parse_torch_export(std::string_view text, const std::string& file,
                                   std::optional<std::int64_t> batch);

// For the two of them: remembers a layer's type where it was not known.
void count_unknown(Network& network, const std::string& type);

}  // namespace hypermile
