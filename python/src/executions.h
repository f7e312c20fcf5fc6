// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace hypermile {

// The class Execution: a plan being carried out.
void bind_executions(pybind11::module_& module);

}  // namespace hypermile
