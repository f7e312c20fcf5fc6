// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes the fields that requests and replies share, and checks every value. Used only
// within this folder. Reading fails with kParse, or kUnsupported for another protocol version.
#pragma once

#include <string_view>

#include "base/identifiers.h"
#include "base/result.h"
#include "gpu/setting.h"
#include "lease/frame.h"

namespace hypermile {

Error malformed(std::string message);

// 1 to 80 letters, digits and dashes. The GPU need not exist.
Result<GpuUuid> read_gpu(std::string_view text);
Result<std::vector<GpuUuid>> read_gpus(const Fields& fields);  // at most kMostGpus, none twice

// Values are positive and below a million; absent knobs stay empty.
Result<Setting> read_setting(const Fields& fields);
void write_setting(FrameWriter& writer, const Setting& setting);

// 0 or 1; an absent field means 0.
Result<bool> read_flag(const Fields& fields, std::uint8_t tag);

// More than 0 and at most a hundred years.
Result<Seconds> read_seconds(const Fields& fields, std::uint8_t tag);

// Every message begins with its version, type and sequence number.
FrameWriter start_message(std::uint8_t type, std::uint64_t sequence);
struct Opening {
  std::uint64_t type = 0;
  std::uint64_t sequence = 0;
};
Result<Opening> read_opening(const Fields& fields);

}  // namespace hypermile
