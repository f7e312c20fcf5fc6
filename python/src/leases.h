// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "control/lease_port.h"

namespace hypermile {

// Of the daemon, else of the guardian `guardian` ("": none). No password is asked for: a training
// process has no business with the terminal.
LeasePortOptions python_lease(const std::string& program, const std::string& guardian);

// The class Lease: Settings for as long as it is held.
void bind_leases(pybind11::module_& module);

}  // namespace hypermile
