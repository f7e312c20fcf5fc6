// SPDX-License-Identifier: Apache-2.0
//
// Any bytes, read as either kind of network, give layers that can be turned into stages, or an
// Error.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "plan/network_file.h"
#include "plan/stages.h"

namespace {

void use(const hypermile::Result<hypermile::Network>& network) {
  using namespace hypermile;
  if (!network) {
    if (network.error().message.empty()) std::abort();
    return;
  }
  for (const bool fuse : {false, true}) {
    for (const PlanStage& stage : make_stages(*network, {.fuse = fuse, .l2_bytes = 1e6})) {
      if (!std::isfinite(stage.flops) || !std::isfinite(stage.bytes) || stage.bytes < 0)
        std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (size > 0 && data[0] == '{') {
    use(hypermile::parse_torch_export(bytes, "fuzz.json", std::nullopt));
  } else {
    use(hypermile::parse_onnx(bytes, "fuzz.onnx", std::nullopt));
  }
  return 0;
}
