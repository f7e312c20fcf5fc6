// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace hypermile {

// Registers the class Execution, which carries out a plan.
void bind_executions(pybind11::module_& module);

}  // namespace hypermile
