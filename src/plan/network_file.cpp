// SPDX-License-Identifier: Apache-2.0
#include "plan/network_file.h"

#include <algorithm>

#include "base/whole_file.h"
#include "plan/builtin_networks.h"

namespace hypermile {

void count_unknown(Network& network, const std::string& type) {
  const auto found = std::ranges::find(network.unknown, type, &UnknownOperator::type);
  if (found != network.unknown.end()) {
    ++found->count;
  } else {
    network.unknown.push_back({type, 1});
  }
}

Result<Network> open_network(const std::string& name, std::optional<std::int64_t> batch) {
  const bool onnx = name.ends_with(".onnx");
  if (!onnx && !name.ends_with(".json")) return builtin_network(name, batch.value_or(1));
  const auto bytes = read_whole_file(name);
  if (!bytes) return Error{ErrorCode::kNotFound, name + ": cannot be read", "check the path"};
  return onnx ? parse_onnx(*bytes, name, batch) : parse_torch_export(*bytes, name, batch);
}

}  // namespace hypermile
