// SPDX-License-Identifier: Apache-2.0
//
// One record of a journal, as a frame; docs/reference/daemon-protocol.md lists the tags.
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
  std::optional<double> baseline;   // MHz or W; nullopt: the driver's default
  std::optional<double> requested;  // nullopt: not known (carried over from a damaged journal)
  LeaseId lease = 0;
  std::string owner;
  MachineEpoch epoch;
  double unix_time = 0;
};

// A knob was given back.
struct RestoredRecord {
  GpuUuid gpu;
  Knob knob = Knob::kSmClock;
};

using JournalRecord = std::variant<HeaderRecord, ChangeRecord, RestoredRecord>;

// Text that is too long for a record is cut.
std::string to_frame(const JournalRecord& record);
// `body` is a whole frame's. kParse for one that is no record of ours.
Result<JournalRecord> parse_record(std::string_view body);

}  // namespace hypermile
