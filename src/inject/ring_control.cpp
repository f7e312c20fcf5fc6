// SPDX-License-Identifier: Apache-2.0
//
// The part of RingReader that writes the controller's wishes into the ring's control block.
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cstring>

#include "inject/file_bytes.h"
#include "inject/ring_reader.h"

namespace hypermile {

// The lock belongs to this reader's open file and ends with it.
bool RingReader::take_control() {
  if (in_control_) return true;
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) return false;
  // Revisions only rise, so that the job does not mistake our first for an earlier reader's last.
  std::uint64_t revision = 0;
  if (!read_at(file_.get(), &revision, sizeof revision, kControlOffset)) return false;
  control_.revision = revision + (revision & 1U);
  in_control_ = true;
  return true;
}

Result<void> RingReader::want_events(const std::optional<WantedEvents>& wanted) {
  control_.events_wanted = wanted ? kEventsAtKernel : 0;
  control_.kernel = wanted ? wanted->kernel : 0;
  control_.previous = wanted ? wanted->previous.value_or(kNoName) : kNoName;
  set_spacing(wanted ? wanted->spacing : Seconds(0));
  return write_control();
}

Result<void> RingReader::want_step_events(Seconds spacing) {
  control_.events_wanted = kEventsAtSteps;
  set_spacing(spacing);
  return write_control();
}

void RingReader::set_spacing(Seconds spacing) {
  const double ns = std::clamp(spacing.value(), 0.0, 3600.0) * 1e9;
  control_.spacing_ns = std::max(kLeastSpacingNs, static_cast<std::uint64_t>(ns));
}

Result<void> RingReader::want_dark(const std::optional<Instant>& until) {
  control_.dark_until_ns =
      until ? static_cast<std::uint64_t>(std::max<std::int64_t>(0, until->nanoseconds())) : 0;
  return write_control();
}

// Makes the revision odd, writes the rest, then makes the revision even again: a launch in between
// sees that the block is not ready.
Result<void> RingReader::write_control() {
  if (!take_control()) return {};
  const std::uint64_t odd = control_.revision + 1;
  const std::uint64_t even = odd + 1;
  control_.revision = odd;
  const bool written = write_at(file_.get(), &odd, sizeof odd, kControlOffset) &&
                       write_at(file_.get(), &control_, sizeof control_, kControlOffset) &&
                       write_at(file_.get(), &even, sizeof even, kControlOffset);
  control_.revision = even;
  if (written) return {};
  return Error{ErrorCode::kIo,
               fmt::format("cannot write to {}: {}", file_name_, std::strerror(errno))};
}

}  // namespace hypermile
