// SPDX-License-Identifier: Apache-2.0
//
// How many ticks this process has made, whether or not anybody listened. A window counts its
// iterations from it.
#pragma once

#include <cstdint>

namespace hypermile {

std::uint64_t ticks_seen();

}  // namespace hypermile
