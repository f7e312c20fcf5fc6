// SPDX-License-Identifier: Apache-2.0
//
// The networks that come with hypermile, by name, at any batch: resnet50, vgg16 (torchvision's, on
// 224 × 224 images), bert-base (sequences of 128, masked words), gpt2 (124 M, sequences of 1024)
// and gcn (two graph convolutions over a whole graph). Layers are called as PyTorch calls them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "plan/layer.h"

namespace hypermile {

std::span<const std::string_view> builtin_network_names();

// kUsage with the nearest names for an unknown one and for a batch that is no batch.
Result<Network> builtin_network(std::string_view name, std::int64_t batch);

// One each, for builtin_network().
Network make_resnet50(std::int64_t batch);
Network make_vgg16(std::int64_t batch);
Network make_bert_base(std::int64_t batch);
Network make_gpt2(std::int64_t batch);
Network make_gcn(std::int64_t batch);

}  // namespace hypermile
