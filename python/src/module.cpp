// SPDX-License-Identifier: Apache-2.0
//
// hypermile._core: the C++ part of the Python package. Ticks are here because a step must cost next
// to nothing, GPUs and leases because C++ code for them exists, and the executor of plans because
// its thread must not need the interpreter.
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
