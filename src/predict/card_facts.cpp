// SPDX-License-Identifier: Apache-2.0
#include "predict/card_facts.h"

#include <algorithm>
#include <iterator>

namespace hypermile {
namespace {

constexpr CardFacts kCards[] = {
    {"V100", Watts(250), 1024, 2048, 5120, 2560, 5120},
    {"V100-SXM2 300W", Watts(300), 1024, 2048, 5120, 2560, 5120},
    {"A100-SXM4-80GB", Watts(500), 1280, 5120, 6912, 3456, 6912},
    {"GTX 980", Watts(165), 64, 512, 2048, 64, 2048},
    {"GTX 980 (low P-state)", Watts(165), 64, 512, 2048, 64, 2048},
    {"GTX Titan X (Maxwell)", Watts(250), 96, 768, 3072, 96, 3072},
    {"Titan X Pascal", Watts(250), 96, 1024, 3584, 112, 3584},
    {"RTX 2070 SUPER", Watts(215), 64, 1024, 2560, 80, 2560},
    {"A100 80GB PCIe", Watts(300), 1280, 5120, 6912, 3456, 6912},
    {"NVIDIA A100-PCIE-40GB", Watts(250), 1280, 5120, 6912, 3456, 6912},
    {"RTX PRO 6000 Blackwell", Watts(600), 128, 6144, 24064, 376, 24064},
    {"RTX 3080 Ti", Watts(350), 96, 2048, 10240, 160, 5120},
};

}  // namespace

std::optional<CardFacts> card_facts(std::string_view gpu) {
  const auto found = std::ranges::find(kCards, gpu, &CardFacts::gpu);
  if (found == std::end(kCards)) return std::nullopt;
  return *found;
}

}  // namespace hypermile
