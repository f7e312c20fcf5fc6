// SPDX-License-Identifier: Apache-2.0
//
// Reads any bytes as a sweep: the result is an Error or curves, each with a default and a choice.
#include <cstdint>
#include <cstdlib>
#include <sstream>

#include "sweep/curve.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hypermile;
  std::istringstream in(std::string(reinterpret_cast<const char*>(data), size));
  const auto file = read_sweep(in, "fuzz.csv");
  if (!file) return 0;
  for (const std::optional<Mhz> step : {std::optional<Mhz>(), std::optional(Mhz(15))}) {
    for (const Curve& curve : make_curves(*file, {.knobs = {}, .step = step}).curves) {
      if (curve.points.size() < 2 || !curve.default_point().setting.empty()) std::abort();
    }
  }
  return 0;
}
