// SPDX-License-Identifier: Apache-2.0
//
// hypermile._core.Lease, registered by module.cpp, and the lease options of Execution. Called on
// Python threads; a refusal becomes a RuntimeError that says why.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "control/lease_port.h"

namespace hypermile {

// A lease of the daemon, or else of the program `guardian` ("" for none). It never asks for a
// password, because a training process must not use the terminal.
LeasePortOptions python_lease(const std::string& program, const std::string& guardian);

// Registers the class Lease, which can apply settings while it is held.
void bind_leases(pybind11::module_& module);

}  // namespace hypermile
