// SPDX-License-Identifier: Apache-2.0
//
// A process that ticks into a ring of its own, in virtual time: for jobs of which only the
// iterations are known.
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "inject/ring_folder.h"
#include "inject/ring_writer.h"

namespace hypermile {

// Opens `writer` in `folder`; a writer learns its folder from the environment, which all threads
// share, so this takes a lock. kIo where no ring can be made.
Result<void> open_ring(const RingFolder& folder, RingWriter& writer, RingSource source);

class RingTicks {
 public:
  static Result<std::unique_ptr<RingTicks>> make(Instant begin);

  RingFolder& folder() { return folder_; }
  void tick(Instant time);

 private:
  explicit RingTicks(RingFolder folder) : folder_(std::move(folder)) {}

  RingFolder folder_;
  std::unique_ptr<RingWriter> writer_ = std::make_unique<RingWriter>();
};

}  // namespace hypermile
