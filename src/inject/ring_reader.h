// SPDX-License-Identifier: Apache-2.0
//
// The controller's end of the rings that training processes write (ring.h). A job's memory is not
// to be trusted, least of all by a privileged reader: everything read is copied by the kernel
// (pread, so that a file that shrinks is a short read and no signal) and checked; whatever a
// hostile writer does costs records, which are counted, and never more. Nothing here waits, and a
// drain touches each slot at most once.
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
  std::uint64_t number = 0;  // of the record in its ring: ascending, with gaps
  Launch launch;
};

// When a launch, or the first after a step or tick, began on the GPU. Times of one axis may be
// subtracted; another axis is another context, or the same after a pause.
struct GpuTime {
  std::uint64_t launch = 0;  // its number
  Seconds time;
  std::uint32_t axis = 0;
  std::uint32_t device = 0;
  bool tick = false;  // `launch` is the number of a tick in the process's ring of ticks
};

struct RingTick {
  Instant time;
  std::uint64_t number = 0;           // of the record
  std::optional<std::uint32_t> name;  // id of the phase's or range's name, where there is one
  bool nvtx = false;                  // the start of the NVTX range asked for
};

struct RingNotice {
  RecordKind kind = RecordKind::kStatus;  // kContext, kFork, kStatus or kWatch
  Instant time;
  std::uint32_t value = 0;   // device, pid of the child, RingStatus; 1 or 0 for kWatch
  std::uint64_t number = 0;  // of the record
};

// What one drain found. Kinds are in order each; numbers and times relate them to one another.
struct RingBatch {
  std::vector<NumberedLaunch> launches;
  std::vector<GpuTime> gpu_times;
  std::vector<RingTick> ticks;
  std::vector<RingNotice> notices;
  std::uint64_t lost = 0;     // overwritten before they were read, or never finished
  std::uint64_t damaged = 0;  // finished but impossible

  void clear();
};

struct RingInfo {
  RingSource source = RingSource::kLaunches;
  RingStatus status = RingStatus::kStarting;
  std::string reason;   // of a status other than kWatching; may be empty
  std::string process;  // its name
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
  Seconds dark;  // during which launches were not watched
};

// At which launches the job shall record CUDA events.
struct WantedEvents {
  std::uint32_t kernel = 0;
  std::optional<std::uint32_t> previous = std::nullopt;  // only right after this one
  Seconds spacing = milliseconds(50);                    // never less
};

class RingReader {
 public:
  // `folder` is a descriptor of the folder, `name` a file in it that must belong to `owner`.
  // Records that were overwritten before count as lost, unless `late`: whoever comes to a job that
  // has long been running has missed nothing that was meant for it.
  static Result<RingReader> open(int folder, const std::string& name, uid_t owner,
                                 bool late = false);

  // Appends what came since the last drain. `now` is the present on CLOCK_MONOTONIC; records from
  // beyond it are impossible. Fails when the file is no ring any more; the reader is then useless.
  Result<void> drain(Instant now, RingBatch& batch);

  // The header as it is now.
  Result<RingInfo> info() const;
  // Of a kernel, phase or range: printable ASCII, cut to kNameLength; nullopt if it is not there.
  std::optional<std::string> name(std::uint32_t id);
  // Any number of readers may read a ring. The first that wants something decides where events are
  // and when launches are watched, until it lets go of the ring; another reader's wishes come to
  // nothing, and it sees the first's.
  Result<void> want_events(const std::optional<WantedEvents>& wanted);
  // The same at the first launch after each step or tick.
  Result<void> want_step_events(Seconds spacing = milliseconds(50));
  // Launches need not be watched until then; nullopt: watch. The notices kWatch tell what is done,
  // and when. No stretch is longer than kLongestDarkNs.
  Result<void> want_dark(const std::optional<Instant>& until);

  const std::string& file_name() const { return file_name_; }
  std::uint64_t lost() const { return lost_; }
  std::uint64_t damaged() const { return damaged_; }

 private:
  RingReader(Descriptor file, std::string file_name);

  Result<std::uint64_t> read_head() const;
  bool take_block(Instant now, std::uint64_t head, RingBatch& batch, Result<void>& outcome);
  bool take_slot(const RingSlot& slot, Instant now, std::uint64_t head, RingBatch& batch);
  bool accept(const RingSlot& slot, Instant now, RingBatch& batch);
  bool take_control();
  void set_spacing(Seconds spacing);
  Result<void> write_control();

  Descriptor file_;
  std::string file_name_;
  std::uint64_t next_ = 0;                // number of the record to read next
  std::optional<Instant> waiting_since_;  // for that record's writer to finish
  std::uint64_t lost_ = 0;
  std::uint64_t damaged_ = 0;
  bool in_control_ = false;
  RingControl control_ = {};  // as last written
  std::vector<RingSlot> block_;
  std::vector<std::string> names_;
};

}  // namespace hypermile
