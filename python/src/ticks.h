// SPDX-License-Identifier: Apache-2.0
//
// hypermile.step() and what belongs to it, registered by module.cpp. Called on the training thread;
// only wrong arguments raise.
#pragma once

#include <pybind11/pybind11.h>

namespace hypermile {

// Registers step(), listening(), listen_again() and tell_device().
void bind_ticks(pybind11::module_& module);

}  // namespace hypermile
