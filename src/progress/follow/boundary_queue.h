// SPDX-License-Identifier: Apache-2.0
//
// Boundaries of one process that wait for their GPU times. The detector numbers launches as they
// are handed to it, the ring by its records: the queue knows both and joins a GPU time, which names
// a record, to the Boundary at that launch.
//
// Fixed memory but for the Boundaries that wait, and those are bounded by the delays.
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
// even a Boundary that expects no GPU time waits for what was measured around it.
struct ProgressDelays {
  Seconds least = Seconds(1.5);
  Seconds most = Seconds(6);  // where GPU times are coming
};

class BoundaryQueue {
 public:
  struct Released {
    Boundary boundary;
    // No Window may reach over it: a pattern was found anew, GPU times begin to come, or they count
    // from elsewhere.
    bool fresh = false;
  };

  explicit BoundaryQueue(const ProgressDelays& delays);

  // The next launch that the detector gets is record `number`.
  void add_launch(std::uint64_t number);
  // The Boundaries that follow are another stretch than those before.
  void begin_stretch() { fresh_ = true; }
  void add(const Boundary& boundary);
  // The same, told by the program itself: its record `number`, in the ring of ticks if `tick`.
  void add_step(const Boundary& boundary, std::uint64_t number, bool tick);
  // What waits of the last stretch was a mistake.
  void forget_stretch();
  // Late, early or of a launch that is no Boundary: then it is passed over.
  void add(const GpuTime& time, Instant now);

  // Those that have waited long enough, oldest first; all of them with `everything`.
  std::vector<Released> release(Instant now, bool everything);

 private:
  static constexpr std::size_t kNumbers = std::size_t{1} << 17;  // what the detector looks back

  // A record of the ring of launches, or of that of ticks.
  struct Record {
    std::uint64_t number = 0;
    bool tick = false;
    bool operator==(const Record&) const = default;
  };
  struct Waiting {
    Boundary boundary;
    std::optional<Record> record;       // whose GPU time is its
    std::optional<std::uint32_t> axis;  // of its GPU time
    bool fresh = false;
  };

  bool may_still_be_timed(const Waiting& waiting) const;

  ProgressDelays delays_;
  std::vector<std::uint64_t> numbers_;  // record of launch i at i % kNumbers
  std::uint64_t launches_ = 0;
  std::deque<Waiting> waiting_;
  bool fresh_ = false;
  std::optional<Record> newest_timed_;  // of those with a GPU time
  std::optional<Instant> timed_at_;
  std::optional<std::uint32_t> axis_;  // of the stretch being released; none: no GPU time yet
};

}  // namespace hypermile
