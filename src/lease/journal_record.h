// SPDX-License-Identifier: Apache-2.0
//
// One record of a journal, to and from a frame; docs/reference/daemon-protocol.md lists the tags.
// Used by Journal. Parsing fails with kParse; writing cannot fail.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "gpu/setting.h"
#include "lease/lease.h"
#include "lease/machine_epoch.h"

namespace hypermile {

// The first record of every journal.
struct HeaderRecord {
  std::uint64_t version = 1;
  GpuUuid gpu;
};

// A knob is about to be changed.
struct ChangeRecord {
  GpuUuid gpu;
  Knob knob = Knob::kSmClock;
  std::optional<double> baseline;  // MHz or W; nullopt: the driver's default
  // MHz or W; nullopt: unknown, carried over from a damaged journal.
  std::optional<double> requested;
  LeaseId lease = 0;
  std::string owner;
  MachineEpoch epoch;
  double unix_time = 0;
};

// A knob was restored.
struct RestoredRecord {
  GpuUuid gpu;
  Knob knob = Knob::kSmClock;
};

using JournalRecord = std::variant<HeaderRecord, ChangeRecord, RestoredRecord>;

// Cuts text that is too long for a record.
std::string to_frame(const JournalRecord& record);
// `body` is the body of a whole frame. kParse where it is not a valid record.
Result<JournalRecord> parse_record(std::string_view body);

}  // namespace hypermile
