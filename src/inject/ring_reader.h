// SPDX-License-Identifier: Apache-2.0
//
// The controller's side of the rings that training processes write (ring.h). A job's memory cannot
// be trusted, least of all by a privileged reader. So the kernel copies everything that is read
// (with pread, so a file that shrinks gives a short read, not a signal) and everything is checked.
// The worst that a hostile writer can do is to lose records, which are counted. Nothing here waits,
// and a drain reads each slot at most once. One thread uses a reader.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/result.h"
#include "inject/launch.h"
#include "inject/ring.h"

namespace hypermile {

struct NumberedLaunch {
  std::uint64_t number = 0;  // the record's number in its ring: ascending, with gaps
  Launch launch;
};

// When a launch began on the GPU, or the first launch after a step or tick. Only times of the same
// axis may be subtracted; a new axis means another context, or the same one after a pause.
struct GpuTime {
  std::uint64_t launch = 0;  // number of the launch's record
  Seconds time;
  std::uint32_t axis = 0;
  std::uint32_t device = 0;
  bool tick = false;  // true if `launch` is the number of a tick in the process's ring of ticks
};

struct RingTick {
  Instant time;
  std::uint64_t number = 0;           // the record's number
  std::optional<std::uint32_t> name;  // id of the name of the phase or range, if it has one
  bool nvtx = false;                  // the start of the requested NVTX range
};

struct RingNotice {
  RecordKind kind = RecordKind::kStatus;  // kContext, kFork, kStatus or kWatch
  Instant time;
  std::uint32_t value = 0;   // device, child's pid or RingStatus; for kWatch 1 or 0
  std::uint64_t number = 0;  // the record's number
};

// What one drain found. Each kind is in order; numbers and times relate the kinds to each other.
struct RingBatch {
  std::vector<NumberedLaunch> launches;
  std::vector<GpuTime> gpu_times;
  std::vector<RingTick> ticks;
  std::vector<RingNotice> notices;
  std::uint64_t lost = 0;  // records that were overwritten before they were read, or never finished
  std::uint64_t damaged = 0;  // records that were finished but are impossible

  void clear();
};

struct RingInfo {
  RingSource source = RingSource::kLaunches;
  RingStatus status = RingStatus::kStarting;
  std::string reason;   // why the status is not kWatching; may be empty
  std::string process;  // the process's name
  pid_t pid = 0;
  pid_t parent_pid = 0;
  Instant started;
  std::uint32_t contexts = 0;
  std::uint32_t forks = 0;
  std::uint32_t cupti_version = 0;
  std::uint32_t driver_version = 0;
  std::uint64_t names_lost = 0;
  std::uint64_t events_placed = 0;
  std::uint64_t events_passed = 0;
  std::uint64_t in_capture = 0;
  Seconds dark;  // total time in which launches were not watched
};

// The launches at which the job shall record CUDA events.
struct WantedEvents {
  std::uint32_t kernel = 0;
  std::optional<std::uint32_t> previous = std::nullopt;  // only right after a launch of this kernel
  Seconds spacing = milliseconds(50);                    // minimum time between two events
};

class RingReader {
 public:
  // `folder` is a descriptor of the folder, `name` a file in it that must belong to `owner`.
  // Records that were already overwritten count as lost, unless `late`: a reader that joins a
  // running job has not lost what came before.
  static Result<RingReader> open(int folder, const std::string& name, uid_t owner,
                                 bool late = false);

  // Appends the records that came since the last drain. `now` is the present on CLOCK_MONOTONIC;
  // records from after it are impossible. Fails if the file is no longer a ring; the reader is then
  // useless.
  Result<void> drain(Instant now, RingBatch& batch);

  // Reads the header as it is now.
  Result<RingInfo> info() const;
  // The name of a kernel, phase or range: printable ASCII, cut to kNameLength; nullopt if unknown.
  std::optional<std::string> name(std::uint32_t id);
  // Requests CUDA events. Many readers may read a ring, but only the first that requests something
  // controls it, until that reader is closed. The requests of the others have no effect.
  Result<void> want_events(const std::optional<WantedEvents>& wanted);
  // Requests events at the first launch after each step or tick.
  Result<void> want_step_events(Seconds spacing = milliseconds(50));
  // Says that launches need not be watched until `until`; nullopt asks to watch them. kWatch
  // notices report what was done and when. No dark stretch is longer than kLongestDarkNs.
  Result<void> want_dark(const std::optional<Instant>& until);

  const std::string& file_name() const { return file_name_; }
  std::uint64_t lost() const { return lost_; }
  std::uint64_t damaged() const { return damaged_; }

 private:
  RingReader(Descriptor file, std::string file_name, const RingExtent& extent);

  Result<std::uint64_t> read_head() const;
  bool take_block(Instant now, std::uint64_t head, RingBatch& batch, Result<void>& outcome);
  bool take_slot(const RingSlot& slot, Instant now, std::uint64_t head, RingBatch& batch);
  bool accept(const RingSlot& slot, Instant now, RingBatch& batch);
  bool take_control();
  void set_spacing(Seconds spacing);
  Result<void> write_control();

  Descriptor file_;
  std::string file_name_;
  RingExtent extent_;
  std::uint64_t next_ = 0;                // number of the next record to read
  std::optional<Instant> waiting_since_;  // since when that record's writer has not finished
  std::uint64_t lost_ = 0;
  std::uint64_t damaged_ = 0;
  bool in_control_ = false;
  RingControl control_ = {};  // as last written
  std::vector<RingSlot> block_;
  std::vector<std::string> names_;
};

}  // namespace hypermile
