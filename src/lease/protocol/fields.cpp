// SPDX-License-Identifier: Apache-2.0
#include "lease/protocol/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "lease/protocol/message.h"
#include "lease/protocol/tags.h"

namespace hypermile {
namespace {

constexpr std::size_t kMostUuidBytes = 80;
constexpr double kLargestValue = 1e6;             // MHz or W
constexpr double kLongest = 100 * 366 * 86400.0;  // s

struct KnobTag {
  Knob knob;
  tags::Tag tag;
};
constexpr KnobTag kKnobTags[] = {{Knob::kSmClock, tags::kSmClock},
                                 {Knob::kMemoryClock, tags::kMemoryClock},
                                 {Knob::kPowerLimit, tags::kPowerLimit}};

}  // namespace

Error malformed(std::string message) {
  return Error{ErrorCode::kParse, std::move(message),
               "install the same version of hypermile and hypermiled"};
}

Result<GpuUuid> read_gpu(std::string_view text) {
  const bool plain = std::ranges::all_of(
      text, [](unsigned char c) { return (c < 0x80 && std::isalnum(c) != 0) || c == '-'; });
  if (text.empty() || text.size() > kMostUuidBytes || !plain)
    return malformed("the UUID of a GPU is malformed");
  return GpuUuid(std::string(text));
}

Result<std::vector<GpuUuid>> read_gpus(const Fields& fields) {
  std::vector<GpuUuid> gpus;
  for (const std::string_view text : fields.texts(tags::kGpu)) {
    ASSIGN_OR_RETURN(GpuUuid gpu, read_gpu(text));
    if (std::ranges::find(gpus, gpu) != gpus.end()) return malformed("a GPU is named twice");
    if (gpus.size() == wire::kMostGpus) return malformed("too many GPUs are named");
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

Result<Setting> read_setting(const Fields& fields) {
  Setting setting;
  for (const auto& [knob, tag] : kKnobTags) {
    if (!fields.has(tag)) continue;
    ASSIGN_OR_RETURN(const double value, fields.real(tag));
    if (!(value > 0) || value > kLargestValue) return malformed("a knob's value is out of range");
    setting.set(knob, value);
  }
  return setting;
}

void write_setting(FrameWriter& writer, const Setting& setting) {
  for (const auto& [knob, tag] : kKnobTags) {
    if (const auto value = setting.value(knob)) writer.real(tag, *value);
  }
}

Result<bool> read_flag(const Fields& fields, std::uint8_t tag) {
  if (!fields.has(tag)) return false;
  ASSIGN_OR_RETURN(const std::uint64_t value, fields.number(tag));
  if (value > 1) return malformed(fmt::format("field {} is neither 0 nor 1", tag));
  return value == 1;
}

Result<Seconds> read_seconds(const Fields& fields, std::uint8_t tag) {
  ASSIGN_OR_RETURN(const double value, fields.real(tag));
  if (!(value > 0) || value > kLongest) {
    return malformed(fmt::format("field {} is not a duration", tag));
  }
  return Seconds(value);
}

FrameWriter start_message(std::uint8_t type, std::uint64_t sequence) {
  FrameWriter writer;
  writer.number(tags::kVersion, wire::kProtocolVersion)
      .number(tags::kType, type)
      .number(tags::kSequence, sequence);
  return writer;
}

Result<Opening> read_opening(const Fields& fields) {
  ASSIGN_OR_RETURN(const std::uint64_t version, fields.number(tags::kVersion));
  if (version != wire::kProtocolVersion) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("protocol version {} is not supported, only version {}", version,
                             wire::kProtocolVersion),
                 "install the same version of hypermile and hypermiled"};
  }
  Opening opening;
  ASSIGN_OR_RETURN(opening.type, fields.number(tags::kType));
  ASSIGN_OR_RETURN(opening.sequence, fields.number(tags::kSequence));
  return opening;
}

}  // namespace hypermile
