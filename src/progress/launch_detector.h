// SPDX-License-Identifier: Apache-2.0
//
// Finds a training job's iterations in the stream of its kernel launches. One detector per process
// and launching context; the streams of that context merged in order of time.
//
// The owner of the ring (one thread; the detector has no lock and starts no thread) hands over
// every launch with add(), which is O(1) and calls the sink for what it saw.
// Between launches it calls analyse_if_due(): that looks for the repeating pattern, a few
// milliseconds at most, and is the only expensive call. Launches must not be added inside sink
// calls.
//
// Nothing can fail: input of any kind (times that go backwards, any ids, any number of them) leaves
// the detector in one of its states within fixed memory (about 4 MB). What it does not know it does
// not say: no lock, no boundaries.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "inject/launch.h"
#include "progress/boundary.h"

namespace hypermile {

enum class DetectorState {
  kSearch,     // no repeating pattern known
  kTentative,  // one is seen, not yet confirmed; no boundaries are given
  kLocked,     // confirmed; every boundary is given as it happens
};

// The launch that opens an iteration: `kernel`, or `kernel` right after `previous` where it is a
// pair. The injected library is asked to record GPU events there.
struct Anchor {
  std::uint32_t kernel = 0;
  std::optional<std::uint32_t> previous;
  bool operator==(const Anchor&) const = default;
};

// Something that happens once every so many iterations: an optimizer step after some micro-batches,
// or logging; the stream of ids cannot tell which.
struct OuterLevel {
  std::uint32_t level = 0;  // 1 or 2
  std::uint32_t inner = 0;  // iterations of level 0 in one of this level
  // Launched more often than usual once in it, the launch that shows it among them.
  std::vector<std::uint32_t> kernels;
  bool operator==(const OuterLevel&) const = default;
};

// What repeats. Pattern and PatternId::phase belong together; a phase that was left and met again
// keeps its number, so that a baseline taken in it is valid again.
struct Pattern {
  std::uint32_t phase = 0;
  Anchor anchor;
  double launches_per_iteration = 0;
  double similarity = 0;  // 0..1: how alike its iterations are, by the kernels launched in them
  double confidence = 0;  // 0..1; below 0.3 while tentative
  std::vector<OuterLevel> outer;  // inner to outer, at most two
};

// How often an iteration launches a kernel, on average.
struct KernelShare {
  std::uint32_t kernel = 0;
  double count = 0;
};

struct Lock {
  Instant time;
  std::uint64_t launch = 0;  // number of the launch at which it was decided, from 0
  bool known = false;        // a phase met before, by its old number
  // In the middle of a lock a better explanation was found: what was counted since the last lock
  // counted something else.
  bool relevelled = false;
};

// What the detector tells, in order of time except where said. Called inside add() and
// analyse_if_due().
class DetectorSink {
 public:
  virtual ~DetectorSink() = default;
  // A pattern is confirmed. Right after it come, through boundary(), the boundaries that led to
  // it: they lie before lock.time.
  virtual void locked(const Pattern& pattern, const Lock& lock) = 0;
  // An iteration of level 0 ended, or one of an outer level (told after the level 0 boundary at the
  // same launch). The first of a lock, or of an outer level, ends none: `iterations` is 0.
  // `gpu_time` is left empty: whoever recorded an event at `launch` fills it in.
  virtual void boundary(const Boundary& boundary) = 0;
  // Outer levels were found or lost. A level whose `inner` differs is another unit of work.
  virtual void levels_changed(const Pattern& pattern, Instant time) = 0;
  // The phase was left at about `since`; no more boundaries until the next lock.
  virtual void broken(const Pattern& pattern, Instant since, Instant time) = 0;
  // No launch since `since`, for long. Said once a pause; not a break: the pattern is kept.
  virtual void idle(Instant since) = 0;
};

class LaunchDetector {
 public:
  // `sink` must outlive the detector.
  explicit LaunchDetector(DetectorSink& sink);
  ~LaunchDetector();
  LaunchDetector(LaunchDetector&&) noexcept;
  LaunchDetector& operator=(LaunchDetector&&) noexcept;

  void add(const Launch& launch);
  // Launches were missed until `watched_since`: a locked pattern is taken up again where its next
  // iteration begins (that boundary ends none), a search begins anew.
  void missed(Instant watched_since);
  // Runs an analysis if enough launches came since the last. Call it as often as is convenient (per
  // launch or per batch of some milliseconds); a call when nothing is due costs nothing.
  void analyse_if_due();
  // Both, launch by launch: for recordings and simulations.
  void add_all(std::span<const Launch> launches);
  // Tells of a pause; `now` on the axis of the launches' times.
  void check_idle(Instant now);

  DetectorState state() const;
  // 0 while searching.
  double confidence() const;
  // The tentative or locked pattern.
  std::optional<Pattern> pattern() const;
  // Every phase that is remembered, the locked one included; at most eight.
  std::vector<Pattern> phases() const;
  // Of one iteration of a remembered phase; empty for any other.
  std::vector<KernelShare> kernel_mix(std::uint32_t phase) const;
  std::uint64_t launches() const;
  // Of all that the detector holds; does not grow after construction.
  std::size_t memory_bytes() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace hypermile
