// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

namespace hypermile {

// Registers step(), listening(), listen_again() and tell_device().
void bind_ticks(pybind11::module_& module);

}  // namespace hypermile
