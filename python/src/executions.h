// SPDX-License-Identifier: Apache-2.0
//
// hypermile._core.Execution. module.cpp registers it, PlanExecutor in Python uses it. Its own
// thread talks to the GPU; the training thread only posts boundaries, which cannot fail.
#pragma once

#include <pybind11/pybind11.h>

namespace hypermile {

// Registers the class Execution, which carries out a plan.
void bind_executions(pybind11::module_& module);

}  // namespace hypermile
