// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C (Castagnoli), the checksum of frames and journal records. It detects torn and damaged
// bytes; it does not protect against deliberate tampering. Pure; cannot fail.
#pragma once

#include <cstdint>
#include <string_view>

namespace hypermile {

// `before` is the checksum of the bytes that precede `bytes`, so that a sum can be taken in parts.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

}  // namespace hypermile
