// SPDX-License-Identifier: Apache-2.0
//
// The lease options that leases and executions of library.h share.
#pragma once

#include <string>

#include "control/lease_port.h"

namespace hypermile {

// A lease of the daemon, or else of the program `guardian` ("" for none). It never asks for a
// password, because a training process must not use the terminal.
LeasePortOptions python_lease(const std::string& program, const std::string& guardian);

}  // namespace hypermile
