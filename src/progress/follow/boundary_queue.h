// SPDX-License-Identifier: Apache-2.0
//
// Boundaries of one process that wait for their GPU times. The detector numbers launches as it
// receives them, the ring numbers its records; the queue knows both and joins a GPU time, which
// names a record, to the Boundary at that launch. Part of ProcessProgress; never fails. It uses
// 2 MB at most, apart from waiting Boundaries, which the delays bound.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "inject/ring_reader.h"
#include "progress/boundary.h"

namespace hypermile {

// How long Boundaries wait. Sensors are read late too (a power buffer is drained once a second), so
// even a Boundary without a GPU time waits for the measurements around it.
struct ProgressDelays {
  Seconds least = Seconds(1.5);
  Seconds most = Seconds(6);  // while GPU times are coming
  // The same for a host that launches a whole optimizer step and waits: its GPU times come a step
  // late, so Boundaries wait twice as long as GPU times were late, up to this.
  Seconds most_of_all = Seconds(30);
};

class BoundaryQueue {
 public:
  struct Released {
    // Its time is when the GPU reached the Boundary, as far as GPU times tell: a host that launches
    // ten iterations and then waits tells nothing by its own clock. Between two GPU times the
    // iterations are taken to be equally long, unless an interlude lies between them.
    Boundary boundary;
    // No Window may span this Boundary: a new pattern was found, GPU times begin, or their origin
    // changed.
    bool fresh = false;
  };

  explicit BoundaryQueue(const ProgressDelays& delays);

  // The next launch that the detector receives is record `number`; its grid has so many blocks.
  void add_launch(std::uint64_t number, std::uint32_t blocks = 0);
  // The Boundaries that follow must not be joined with those before.
  void begin_stretch() { fresh_ = true; }
  void add(const Boundary& boundary);
  // The same for an iteration that the program reported in record `number`, of the ring of ticks if
  // `tick`.
  void add_step(const Boundary& boundary, std::uint64_t number, bool tick);
  // Drops the Boundaries of the last stretch that still wait: they counted the wrong thing.
  void forget_stretch();
  // Ignored if it comes too late or too early, or if there is no Boundary at its launch.
  void add(const GpuTime& time, Instant now);

  // Boundaries that have waited long enough, oldest first; with `everything`, all of them.
  std::vector<Released> release(Instant now, bool everything);

 private:
  // As many launches as the detector looks back on.
  static constexpr std::size_t kNumbers = std::size_t{1} << 17;

  // A record in the ring of launches or in the ring of ticks.
  struct Record {
    std::uint64_t number = 0;
    bool tick = false;
    bool operator==(const Record&) const = default;
  };
  struct Waiting {
    Boundary boundary;
    std::optional<Record> record;       // the record whose GPU time belongs here
    std::optional<std::uint32_t> axis;  // axis of the GPU time
    bool fresh = false;
  };

  void count_blocks(Boundary& boundary, bool fresh);
  bool may_still_be_timed(const Waiting& waiting) const;
  void note_late(const Record& record, Instant now);
  void align(const Boundary& boundary, std::uint32_t axis);
  std::optional<Instant> on_gpu(std::size_t waiting) const;
  Seconds longest_wait() const;

  ProgressDelays delays_;
  struct SeenLaunch {
    std::uint64_t number = 0;         // of its record
    std::uint64_t blocks_before = 0;  // of all launches before it
  };
  std::vector<SeenLaunch> seen_;  // launch i at i % kNumbers; grows to kNumbers
  std::uint64_t launches_ = 0;
  std::uint64_t blocks_ = 0;  // of all launches
  struct Begun {
    PatternId pattern;
    std::uint64_t blocks_before = 0;
  };
  std::optional<Begun> begun_;  // the last Boundary of level 0
  std::deque<Waiting> waiting_;
  bool fresh_ = false;
  std::optional<Record> newest_timed_;  // newest record that has a GPU time
  std::optional<Instant> timed_at_;
  // Boundaries that were released without a GPU time, the newest few, and how late times came.
  struct Untimed {
    Record record;
    Instant time;
  };
  std::deque<Untimed> untimed_;
  Seconds late_;
  // Axis of the stretch being released; nullopt before its first GPU time.
  std::optional<std::uint32_t> axis_;
  // How far the host's axis is ahead of the GPU's. A launch precedes its work, so this is the most
  // that was seen; a little is taken back with time, because the two clocks drift.
  struct Alignment {
    std::uint32_t axis = 0;
    Seconds ahead;
    Instant at;
  };
  std::optional<Alignment> aligned_;
  // The last Boundary released, and the iterations since the last with a GPU time.
  Instant released_;
  std::optional<Instant> released_timed_;
  double since_timed_ = 0;
  Seconds behind_host_;  // how far the GPU was behind the host there
};

}  // namespace hypermile
