// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C (Castagnoli), the checksum of frames and journal records. It finds torn and damaged
// bytes; it is no protection against somebody who means harm.
#pragma once

#include <cstdint>
#include <string_view>

namespace hypermile {

// `before` is the checksum of what precedes `bytes`, so that parts can be summed one by one.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

}  // namespace hypermile
