// SPDX-License-Identifier: Apache-2.0
//
// The built-in networks, by name and at any batch size: resnet50 and vgg16 (torchvision's, on 224 ×
// 224 images), bert-base (sequences of 128, masked words), gpt2 (124 M, sequences of 1024) and gcn
// (two graph convolutions over a whole graph). Layers have PyTorch's names. Called by
// open_network().
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "plan/layer.h"

namespace hypermile {

std::span<const std::string_view> builtin_network_names();

// Returns kUsage for a batch out of range, and for an unknown name, with the nearest names.
Result<Network> builtin_network(std::string_view name, std::int64_t batch);

// Used by builtin_network() only; `batch` must be 1 or more.
Network make_resnet50(std::int64_t batch);
Network make_vgg16(std::int64_t batch);
Network make_bert_base(std::int64_t batch);
Network make_gpt2(std::int64_t batch);
Network make_gcn(std::int64_t batch);

}  // namespace hypermile
