// SPDX-License-Identifier: Apache-2.0
//
// The ring of a job that runs in virtual time, in a folder of its own. A Session finds it as it
// finds the ring of a living process. The jobs of virtual_rig.h write it; making one fails with kIo
// where there is no room for it.
#pragma once

#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "inject/ring_folder.h"
#include "inject/ring_writer.h"

namespace hypermile {

class JobRing {
 public:
  // The process of the job uses the GPUs 0 to `devices` - 1 from `begin` on.
  static Result<std::unique_ptr<JobRing>> make(RingSource source, Instant begin,
                                               std::uint32_t devices = 1);

  ~JobRing();
  JobRing(const JobRing&) = delete;
  JobRing& operator=(const JobRing&) = delete;

  RingFolder& folder() { return folder_; }
  RingWriter& writer() { return writer_; }
  // An iteration began at `time`, as a framework's callback reports it.
  void tick(Instant time);

  static std::uint64_t ns(Instant time) { return static_cast<std::uint64_t>(time.nanoseconds()); }

 private:
  explicit JobRing(RingFolder folder) : folder_(std::move(folder)) {}
  Result<void> open(RingSource source);
  void let_folder_look_old() const;

  RingFolder folder_;
  RingWriter writer_;
};

}  // namespace hypermile
