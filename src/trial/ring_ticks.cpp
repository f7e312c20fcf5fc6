// SPDX-License-Identifier: Apache-2.0
#include "trial/ring_ticks.h"

#include <cstdlib>
#include <mutex>

namespace hypermile {
namespace {

std::uint64_t ns(Instant time) {
  return static_cast<std::uint64_t>(time.nanoseconds());
}

}  // namespace

Result<void> open_ring(const RingFolder& folder, RingWriter& writer, RingSource source) {
  static std::mutex environment;
  const std::lock_guard<std::mutex> lock(environment);
  ::setenv(kRingDirVariable, folder.path().c_str(), 1);
  const bool opened = writer.open(source);
  ::unsetenv(kRingDirVariable);
  if (!opened) {
    return Error{ErrorCode::kIo, "no ring can be made in " + folder.path(),
                 "make room in /dev/shm"};
  }
  writer.header().status = static_cast<std::uint32_t>(RingStatus::kWatching);
  return {};
}

Result<std::unique_ptr<RingTicks>> RingTicks::make(Instant begin) {
  ASSIGN_OR_RETURN(RingFolder folder, RingFolder::make());
  std::unique_ptr<RingTicks> made(new RingTicks(std::move(folder)));
  RETURN_IF_ERROR(open_ring(made->folder_, *made->writer_, RingSource::kTicks));
  made->writer_->put(ns(begin), pack_b(RecordKind::kContext, 0, 0), 0);
  return made;
}

void RingTicks::tick(Instant time) {
  writer_->put(ns(time), pack_b(RecordKind::kTick, 0, kNoName), 0);
}

}  // namespace hypermile
