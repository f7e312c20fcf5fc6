// SPDX-License-Identifier: Apache-2.0
//
// Reads networks from files: ONNX (.onnx), and the JSON that the Python package exports from
// PyTorch (.json, docs/reference/network-file.md). Both readers accept any bytes: a broken file, a
// dynamic shape or a size of zero is an Error that says what and where. Unknown operators are
// counted and named in the Network, and cost as much as an element-wise layer. Called by `hypermile
// plan`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "plan/layer.h"

namespace hypermile {

// Opens a built-in network by name, or a file by its extension. `batch` applies to a built-in
// network (1 without it) and to an ONNX file with an open first dimension. Returns kUsage where a
// file has its own, different batch.
Result<Network> open_network(const std::string& name, std::optional<std::int64_t> batch);

// `file` appears in messages only.
Result<Network> parse_onnx(std::string_view bytes, const std::string& file,
                           std::optional<std::int64_t> batch);
Result<Network> parse_torch_export(std::string_view text, const std::string& file,
                                   std::optional<std::int64_t> batch);

// Counts an unknown operator type; both readers use it.
void count_unknown(Network& network, const std::string& type);

}  // namespace hypermile
