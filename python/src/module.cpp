// SPDX-License-Identifier: Apache-2.0
//
// hypermile._core: what the Python package needs of C++. Ticks, because a step may cost next to
// nothing; GPUs and leases, because they are ours already; the executor of plans, because its
// thread must not need the interpreter.
#include <pybind11/pybind11.h>

#include "executions.h"
#include "gpus.h"
#include "leases.h"
#include "ticks.h"

PYBIND11_MODULE(_core, module) {
  module.doc() = "The C++ part of hypermile.";
  hypermile::bind_ticks(module);
  hypermile::bind_gpus(module);
  hypermile::bind_leases(module);
  hypermile::bind_executions(module);
}
