// SPDX-License-Identifier: Apache-2.0
#include "lease/journal_record.h"

#include <fmt/format.h>

#include <algorithm>

#include "lease/frame.h"

namespace hypermile {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kMostTextBytes = 1024;

enum Kind : std::uint64_t { kHeader = 1, kChange = 2, kRestored = 3 };

enum Tag : std::uint8_t {
  kKindTag = 1,
  kGpuTag = 2,
  kVersionTag = 3,
  kKnobTag = 4,
  kBaselineTag = 5,
  kRequestedTag = 6,
  kLeaseTag = 7,
  kOwnerTag = 8,
  kBootTag = 9,
  kDriverTag = 10,
  kTimeTag = 11,
};

std::string_view cut(std::string_view text) {
  return text.substr(0, kMostTextBytes);
}

FrameWriter begin(Kind kind, const GpuUuid& gpu) {
  FrameWriter frame;
  frame.number(kKindTag, kind).text(kGpuTag, cut(gpu.text()));
  return frame;
}

FrameWriter write(const HeaderRecord& record) {
  return begin(kHeader, record.gpu).number(kVersionTag, record.version);
}

FrameWriter write(const ChangeRecord& record) {
  FrameWriter frame = begin(kChange, record.gpu);
  frame.text(kKnobTag, to_string(record.knob));
  if (record.baseline) frame.real(kBaselineTag, *record.baseline);
  if (record.requested) frame.real(kRequestedTag, *record.requested);
  frame.number(kLeaseTag, record.lease).text(kOwnerTag, cut(record.owner));
  frame.text(kBootTag, cut(record.epoch.boot)).text(kDriverTag, cut(record.epoch.driver));
  return frame.real(kTimeTag, record.unix_time);
}

FrameWriter write(const RestoredRecord& record) {
  return begin(kRestored, record.gpu).text(kKnobTag, to_string(record.knob));
}

Result<Knob> read_knob(const Fields& fields) {
  ASSIGN_OR_RETURN(const std::string_view name, fields.text(kKnobTag));
  for (const Knob knob : kAllKnobs) {
    if (to_string(knob) == name) return knob;
  }
  return Error{ErrorCode::kParse, "a record names an unknown knob"};
}

Result<std::optional<double>> read_optional(const Fields& fields, Tag tag) {
  if (!fields.has(tag)) return std::optional<double>();
  ASSIGN_OR_RETURN(const double value, fields.real(tag));
  return std::optional<double>(value);
}

Result<JournalRecord> read_header(const Fields& fields, GpuUuid gpu) {
  ASSIGN_OR_RETURN(const std::uint64_t version, fields.number(kVersionTag));
  if (version != kVersion) {
    return Error{ErrorCode::kParse,
                 fmt::format("the journal has version {}, not {}", version, kVersion)};
  }
  return JournalRecord(HeaderRecord{version, std::move(gpu)});
}

Result<JournalRecord> read_change(const Fields& fields, GpuUuid gpu) {
  ChangeRecord record;
  record.gpu = std::move(gpu);
  ASSIGN_OR_RETURN(record.knob, read_knob(fields));
  ASSIGN_OR_RETURN(record.baseline, read_optional(fields, kBaselineTag));
  ASSIGN_OR_RETURN(record.requested, read_optional(fields, kRequestedTag));
  ASSIGN_OR_RETURN(record.lease, fields.number(kLeaseTag));
  ASSIGN_OR_RETURN(record.owner, fields.text(kOwnerTag));
  ASSIGN_OR_RETURN(record.epoch.boot, fields.text(kBootTag));
  ASSIGN_OR_RETURN(record.epoch.driver, fields.text(kDriverTag));
  ASSIGN_OR_RETURN(record.unix_time, fields.real(kTimeTag));
  return JournalRecord(std::move(record));
}

}  // namespace

// All fields are bounded, so finish() cannot fail.
std::string to_frame(const JournalRecord& record) {
  return std::visit([](const auto& r) { return write(r).finish().value(); }, record);
}

Result<JournalRecord> parse_record(std::string_view body) {
  ASSIGN_OR_RETURN(const Fields fields, Fields::parse(body));
  ASSIGN_OR_RETURN(const std::uint64_t kind, fields.number(kKindTag));
  ASSIGN_OR_RETURN(const std::string_view uuid, fields.text(kGpuTag));
  GpuUuid gpu{std::string(uuid)};
  if (kind == kHeader) return read_header(fields, std::move(gpu));
  if (kind == kChange) return read_change(fields, std::move(gpu));
  if (kind == kRestored) {
    ASSIGN_OR_RETURN(const Knob knob, read_knob(fields));
    return JournalRecord(RestoredRecord{std::move(gpu), knob});
  }
  return Error{ErrorCode::kParse, fmt::format("the record kind {} is unknown", kind)};
}

}  // namespace hypermile
