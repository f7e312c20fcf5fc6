// SPDX-License-Identifier: Apache-2.0
#include "plan/builtin_networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/nearest.h"
#include "plan/layer_makers.h"

namespace hypermile {
namespace {

constexpr std::int64_t kMostBatch = 1 << 20;

struct Entry {
  std::string_view name;
  Network (*make)(std::int64_t batch);
};
constexpr std::array kNetworks = {Entry{"resnet50", make_resnet50}, Entry{"vgg16", make_vgg16},
                                  Entry{"bert-base", make_bert_base}, Entry{"gpt2", make_gpt2},
                                  Entry{"gcn", make_gcn}};
constexpr std::array kNetworkNames = {kNetworks[0].name, kNetworks[1].name, kNetworks[2].name,
                                      kNetworks[3].name, kNetworks[4].name};
static_assert(kNetworkNames.size() == kNetworks.size());

}  // namespace

std::span<const std::string_view> builtin_network_names() {
  return kNetworkNames;
}

Result<Network> builtin_network(std::string_view name, std::int64_t batch) {
  const auto found = std::ranges::find(kNetworks, name, &Entry::name);
  if (found == kNetworks.end()) {
    const std::vector<std::string> known(kNetworkNames.begin(), kNetworkNames.end());
    return Error{ErrorCode::kUsage, fmt::format("no network is called '{}'", name),
                 suggestion(name, known) + "; or give a file.onnx or file.json"};
  }
  if (batch < 1 || batch > kMostBatch) {
    return Error{ErrorCode::kUsage, fmt::format("{} is not a valid batch", batch),
                 fmt::format("give 1 to {}", kMostBatch)};
  }
  return found->make(batch);
}

// A citation graph of the size of ogbn-arxiv; a batch is that many copies of the graph.
Network make_gcn(std::int64_t batch) {
  constexpr std::int64_t kNodes = 169'343;
  constexpr double kEdges = 2'315'598;  // both directions
  constexpr std::int64_t kFeatures = 128, kHidden = 256, kClasses = 40;
  const std::int64_t nodes = kNodes * batch;
  const double edges = kEdges * static_cast<double>(batch);
  Network network;
  network.name = "gcn";
  network.batch = batch;
  network.optimizer = Optimizer::kAdam;
  std::vector<Layer>& layers = network.layers;
  std::int64_t width = kFeatures;
  for (const std::int64_t out : {kHidden, kClasses}) {
    const std::string name = out == kHidden ? "conv1" : "conv2";
    layers.push_back(make_linear(name + ".lin", {nodes, width}, out, false));
    layers.push_back(make_sparse_product(name + ".propagate", {nodes, out}, {nodes, out}, edges));
    layers.push_back(make_elementwise(name + ".bias", "Add", {nodes, out}, {nodes, out},
                                      static_cast<double>(nodes * out)));
    if (out == kHidden) {
      layers.push_back(make_relu("relu", {nodes, out}));
      layers.push_back(make_dropout("dropout", {nodes, out}));
    }
    width = out;
  }
  layers.push_back(make_cross_entropy("loss", {nodes, kClasses}));
  layers.front().input_gradient = false;
  return network;
}

}  // namespace hypermile
