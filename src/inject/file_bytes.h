// SPDX-License-Identifier: Apache-2.0
//
// Bytes at a place in a file: all of them, or false.
#pragma once

#include <cstddef>

namespace hypermile {

bool read_at(int fd, void* into, std::size_t size, std::size_t offset);
bool write_at(int fd, const void* from, std::size_t size, std::size_t offset);

}  // namespace hypermile
