// SPDX-License-Identifier: Apache-2.0
//
// A card of the Python package, which leases and executions of library.h share.
#pragma once

#include <memory>

#include "base/clock.h"
#include "gpu/gpu.h"

namespace hypermile {

// A real card, and the clock that times its calls.
struct PythonGpu {
  std::unique_ptr<Clock> clock = make_real_clock();
  std::unique_ptr<Gpu> gpu;  // last, because it uses the clock
};

}  // namespace hypermile
