// SPDX-License-Identifier: Apache-2.0
#include "inject/ring_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>

#include "inject/file_bytes.h"

namespace hypermile {
namespace {

constexpr std::size_t kBlockSlots = 1024;
// A writer publishes its slot within nanoseconds, but one that was stopped in between may never do.
constexpr Seconds kPatience = milliseconds(100);
// Both sides use the same clock, but `now` was read before the ring.
constexpr Seconds kClockSlack = Seconds(1);
constexpr std::uint64_t kMostRecords = std::uint64_t{1}
                                       << 47;  // fits a seal; centuries of launches
constexpr std::uint32_t kMostStreams = 4096;
constexpr double kMostGpuSeconds = 1e10;

Error no_ring(const std::string& file, std::string_view why) {
  return {ErrorCode::kParse,
          fmt::format("{} is not a ring of this version of hypermile: {}", file, why),
          "use the hypermile libraries and programs of one release"};
}

// Makes another process's text safe to print.
std::string printable(const char* text, std::size_t most) {
  std::string clean(text, ::strnlen(text, most));
  for (char& c : clean)
    if (c < 0x20 || c > 0x7e) c = '?';
  return clean;
}

// The extent of a ring whose file has this size; null if there is none.
const RingExtent* extent_of(off_t file_size) {
  for (const RingExtent* extent : {&kLargeRing, &kSmallRing})
    if (file_size == static_cast<off_t>(extent->file_size())) return extent;
  return nullptr;
}

bool layout_fits(const RingHeader& header, const RingExtent& extent) {
  return header.magic == kRingMagic && header.version == kRingVersion &&
         header.slot_count == extent.slots && header.slot_size == sizeof(RingSlot) &&
         header.name_count == extent.names && header.name_size == sizeof(RingName) &&
         header.file_size == extent.file_size() &&
         (header.source == static_cast<std::uint32_t>(RingSource::kLaunches) ||
          header.source == static_cast<std::uint32_t>(RingSource::kTicks));
}

std::optional<Instant> time_from(std::uint64_t ns, Instant now) {
  if (ns > static_cast<std::uint64_t>((now + kClockSlack).nanoseconds())) return std::nullopt;
  return Instant::from_nanoseconds(static_cast<std::int64_t>(ns));
}

}  // namespace

void RingBatch::clear() {
  launches.clear();
  gpu_times.clear();
  ticks.clear();
  notices.clear();
  lost = 0;
  damaged = 0;
}

RingReader::RingReader(Descriptor file, std::string file_name, const RingExtent& extent)
    : file_(std::move(file)),
      file_name_(std::move(file_name)),
      extent_(extent),
      block_(kBlockSlots) {
  control_.previous = kNoName;
}

Result<RingReader> RingReader::open(int folder, const std::string& name, uid_t owner, bool late) {
  // Non-blocking, so that opening a FIFO of that name does not wait before it is refused.
  Descriptor file(
      ::openat(folder, name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file)
    return Error{ErrorCode::kIo, fmt::format("cannot open {}: {}", name, std::strerror(errno))};
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return no_ring(name, "not a plain file");
  // A second name may belong to a file that the owner could not open, but that we could.
  if (status.st_uid != owner || status.st_nlink != 1)
    return no_ring(name, "it belongs to somebody else");
  const RingExtent* extent = extent_of(status.st_size);
  if (extent == nullptr) return no_ring(name, "its size is wrong");
  RingHeader header{};
  if (!read_at(file.get(), &header, sizeof header, kHeaderOffset) || !layout_fits(header, *extent))
    return no_ring(name, "its header is wrong");
  RingReader reader(std::move(file), name, *extent);
  if (late) {
    ASSIGN_OR_RETURN(const std::uint64_t head, reader.read_head());
    reader.next_ = head > extent->slots ? head - extent->slots : 0;
  }
  return reader;
}

Result<std::uint64_t> RingReader::read_head() const {
  std::uint64_t head = 0;
  if (!read_at(file_.get(), &head, sizeof head, kHeaderOffset + offsetof(RingHeader, head)))
    return no_ring(file_name_, "it was cut short");
  if (head > kMostRecords) return no_ring(file_name_, "its record count is impossible");
  return head;
}

Result<void> RingReader::drain(Instant now, RingBatch& batch) {
  ASSIGN_OR_RETURN(const std::uint64_t head, read_head());
  const std::uint64_t lost_before = lost_;
  const std::uint64_t damaged_before = damaged_;
  if (head < next_) {  // counts never fall in an honest ring
    ++damaged_;
    next_ = head;
    waiting_since_.reset();
  }
  if (head - next_ > extent_.slots) {
    lost_ += head - next_ - extent_.slots;
    next_ = head - extent_.slots;
    waiting_since_.reset();
  }
  Result<void> outcome;
  while (next_ < head && take_block(now, head, batch, outcome)) {
  }
  batch.lost += lost_ - lost_before;
  batch.damaged += damaged_ - damaged_before;
  return outcome;
}

// Takes as many adjacent slots as possible; false if the rest must wait.
bool RingReader::take_block(Instant now, std::uint64_t head, RingBatch& batch,
                            Result<void>& outcome) {
  const std::uint64_t index = next_ % extent_.slots;
  const std::size_t count =
      std::min<std::uint64_t>({std::uint64_t{kBlockSlots}, extent_.slots - index, head - next_});
  if (!read_at(file_.get(), block_.data(), count * sizeof(RingSlot),
               extent_.slots_offset() + index * sizeof(RingSlot))) {
    outcome = no_ring(file_name_, "it was cut short");
    return false;
  }
  for (std::size_t i = 0; i < count; ++i)
    if (!take_slot(block_[i], now, head, batch)) return false;
  return true;
}

// False if this slot's writer has not finished.
bool RingReader::take_slot(const RingSlot& slot, Instant now, std::uint64_t head,
                           RingBatch& batch) {
  const std::uint64_t holds = number_in_seal(slot.seal);
  if (slot.seal == seal_of(next_, slot.a, slot.b, slot.c)) {
    if (!accept(slot, now, batch)) ++damaged_;
  } else if (holds > next_ + 1) {
    ++lost_;  // overwritten after the head was read
  } else {
    if (!waiting_since_) waiting_since_ = now;
    if (now - *waiting_since_ < kPatience && head - next_ < extent_.slots / 2) return false;
    ++lost_;
  }
  waiting_since_.reset();
  ++next_;
  return true;
}

bool RingReader::accept(const RingSlot& slot, Instant now, RingBatch& batch) {
  const auto kind = static_cast<RecordKind>(slot.b & 0xffU);
  const auto middle = static_cast<std::uint32_t>((slot.b >> 8) & 0x00ff'ffffU);
  const auto high = static_cast<std::uint32_t>(slot.b >> 32);
  const bool tick_time = kind == RecordKind::kTickTime;
  if (kind == RecordKind::kGpuTime || tick_time) {
    const auto seconds = std::bit_cast<double>(slot.c);
    if (slot.a >= (tick_time ? kMostRecords : next_) || !std::isfinite(seconds) || seconds < 0 ||
        seconds > kMostGpuSeconds)
      return false;
    batch.gpu_times.push_back({slot.a, Seconds(seconds), middle, high, tick_time});
    return true;
  }
  const std::optional<Instant> time = time_from(slot.a, now);
  if (!time) return false;
  switch (kind) {
    case RecordKind::kLaunch:
      if (high >= extent_.names || middle >= kMostStreams ||
          slot.c > std::numeric_limits<std::uint32_t>::max())
        return false;
      batch.launches.push_back({next_,
                                {*time, high == extent_.other_names() ? kOtherKernel : high,
                                 static_cast<std::uint32_t>(slot.c), middle}});
      return true;
    case RecordKind::kTick:
    case RecordKind::kStep:
      if (high >= extent_.names && high != kNoName) return false;
      batch.ticks.push_back({*time, next_,
                             high == kNoName ? std::nullopt : std::optional<std::uint32_t>(high),
                             kind == RecordKind::kStep});
      return true;
    case RecordKind::kContext:
    case RecordKind::kFork:
    case RecordKind::kStatus:
    case RecordKind::kWatch:
      batch.notices.push_back({kind, *time, high, next_});
      return true;
    case RecordKind::kGpuTime:
    case RecordKind::kTickTime:
      break;
  }
  return false;
}

Result<RingInfo> RingReader::info() const {
  RingHeader header{};
  if (!read_at(file_.get(), &header, sizeof header, kHeaderOffset) || !layout_fits(header, extent_))
    return no_ring(file_name_, "its header is wrong");
  RingInfo info;
  info.source = static_cast<RingSource>(header.source);
  info.status = header.status <= static_cast<std::uint32_t>(RingStatus::kEnded)
                    ? static_cast<RingStatus>(header.status)
                    : RingStatus::kCuptiFailed;
  info.reason = printable(header.reason, sizeof header.reason);
  info.process = printable(header.process, sizeof header.process);
  info.pid = static_cast<pid_t>(header.pid & 0x7fff'ffffU);
  info.parent_pid = static_cast<pid_t>(header.parent_pid & 0x7fff'ffffU);
  info.started = Instant::from_nanoseconds(
      static_cast<std::int64_t>(header.start_ns & 0x7fff'ffff'ffff'ffffU));
  info.contexts = header.contexts;
  info.forks = header.forks;
  info.cupti_version = header.cupti_version;
  info.driver_version = header.driver_version;
  info.names_lost = header.names_lost;
  info.events_placed = header.events_placed;
  info.events_passed = header.events_passed;
  info.in_capture = header.in_capture;
  info.dark = Seconds(static_cast<double>(header.dark_ns) * 1e-9);
  return info;
}

std::optional<std::string> RingReader::name(std::uint32_t id) {
  if (id == kOtherKernel) id = extent_.other_names();
  if (id >= extent_.names) return std::nullopt;
  if (id < names_.size() && !names_[id].empty()) return names_[id];
  RingName entry{};
  if (!read_at(file_.get(), &entry, sizeof entry, kNamesOffset + id * sizeof entry))
    return std::nullopt;
  if (entry.length == 0 || entry.length > kNameLength) return std::nullopt;
  if (names_.size() <= id) names_.resize(id + 1);
  names_[id] = printable(entry.text, entry.length);
  if (names_[id].empty()) return std::nullopt;
  return names_[id];
}

}  // namespace hypermile
