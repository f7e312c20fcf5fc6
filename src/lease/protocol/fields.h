// SPDX-License-Identifier: Apache-2.0
//
// What requests and replies share in reading and writing fields: checked values and Settings. Used
// by this folder alone.
#pragma once

#include <string_view>

#include "base/identifiers.h"
#include "base/result.h"
#include "gpu/setting.h"
#include "lease/frame.h"

namespace hypermile {

Error malformed(std::string message);

// 1 to 80 letters, digits and dashes. Whether there is such a GPU is another question.
Result<GpuUuid> read_gpu(std::string_view text);
Result<std::vector<GpuUuid>> read_gpus(const Fields& fields);  // at most kMostGpus, none twice

// Positive and below a million; knobs that are absent stay empty.
Result<Setting> read_setting(const Fields& fields);
void write_setting(FrameWriter& writer, const Setting& setting);

// 0 or 1; absent is 0.
Result<bool> read_flag(const Fields& fields, std::uint8_t tag);

// Above 0, at most a hundred years.
Result<Seconds> read_seconds(const Fields& fields, std::uint8_t tag);

// The version and type that open every message.
FrameWriter start_message(std::uint8_t type, std::uint64_t sequence);
struct Opening {
  std::uint64_t type = 0;
  std::uint64_t sequence = 0;
};
Result<Opening> read_opening(const Fields& fields);

}  // namespace hypermile
