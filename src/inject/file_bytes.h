// SPDX-License-Identifier: Apache-2.0
//
// Reads or writes bytes at an offset in a file. Each call handles all `size` bytes or returns
// false.
#pragma once

#include <cstddef>

namespace hypermile {

bool read_at(int fd, void* into, std::size_t size, std::size_t offset);
bool write_at(int fd, const void* from, std::size_t size, std::size_t offset);

}  // namespace hypermile
