// SPDX-License-Identifier: Apache-2.0
//
// How many ticks this process has made, listened to or not: what a window's iterations are counted
// from.
#pragma once

#include <cstdint>

namespace hypermile {

std::uint64_t ticks_seen();

}  // namespace hypermile
