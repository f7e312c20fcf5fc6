// SPDX-License-Identifier: Apache-2.0
//
// hypermile._core: what the Python package needs of C++. Ticks, because a step may cost next to
// nothing; GPUs and leases, because they are ours already; the executor of plans, because its
// thread must not need the interpreter.
#include <pybind11/pybind11.h>

#include "ticks.h"

PYBIND11_MODULE(_core, module) {
  module.doc() = "The C++ part of hypermile.";
  hypermile::bind_ticks(module);
}
