// SPDX-License-Identifier: Apache-2.0
//
// Finds a training job's iterations in its stream of kernel launches. Each process and launching
// context has its own detector, which gets the context's streams merged in order of time.
//
// One thread owns a detector; it has no lock and starts no thread. The owner passes every launch to
// add(), which is O(1) and calls the sink. Between launches the owner calls analyse_if_due(), the
// only expensive call (a few milliseconds at most). Sink calls must not add launches.
//
// Nothing can fail: any input (times that go backwards, any ids, any number of them) leaves the
// detector in one of its states, within a fixed memory of about 4 MB. While it is unsure it stays
// silent: no lock, no boundaries.
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
  kSearch,     // no repeating pattern is known
  kTentative,  // a pattern was seen but not confirmed; no boundaries are reported
  kLocked,     // the pattern is confirmed; every boundary is reported as it happens
};

// The launch that opens an iteration: `kernel`, only right after `previous` if that is set. The
// injected library records GPU events there on request.
struct Anchor {
  std::uint32_t kernel = 0;
  std::optional<std::uint32_t> previous;
  bool operator==(const Anchor&) const = default;
};

// Something that happens once every several iterations: an optimizer step after some micro-batches,
// or logging. The launch stream cannot tell which.
struct OuterLevel {
  std::uint32_t level = 0;  // 1 or 2
  std::uint32_t inner = 0;  // iterations of level 0 in one iteration of this level
  // The kernels that are launched more often than usual once per iteration of this level.
  std::vector<std::uint32_t> kernels;
  // What comes on top is the forward pass again: an epoch that ends with an evaluation.
  bool evaluation = false;
  // What comes on top is a handful of launches, and seldom: a loss that is logged.
  bool logging = false;
  bool is_iteration() const { return !evaluation && !logging; }
  bool operator==(const OuterLevel&) const = default;
};

// What repeats. `phase` is that of PatternId. A phase that is left and met again keeps its number,
// so that a baseline measured in it is valid again.
struct Pattern {
  std::uint32_t phase = 0;
  Anchor anchor;
  double launches_per_iteration = 0;
  double similarity = 0;  // 0..1: how alike the iterations are, by their kernels
  double confidence = 0;  // 0..1; below 0.3 while tentative
  bool elastic = false;   // iterations differ in length, as sequences do
  // Only a stage of a longer round, as was seen later; set by LaunchDetector::phases() alone.
  bool stage = false;
  std::vector<OuterLevel> outer;  // from inner to outer, at most two
};

// How often an iteration launches a kernel, on average.
struct KernelShare {
  std::uint32_t kernel = 0;
  double count = 0;
};

struct Lock {
  Instant time;
  std::uint64_t launch = 0;  // number of the launch, from 0, at which the lock was decided
  bool known = false;        // the phase was met before and has its old number
  // A better pattern was found during a lock: the boundaries since the last lock counted something
  // else.
  bool relevelled = false;
};

// Receives the detector's reports, in order of time except where stated. Called inside add() and
// analyse_if_due().
class DetectorSink {
 public:
  virtual ~DetectorSink() = default;
  // A pattern is confirmed. The boundaries that led to it follow at once through boundary(); they
  // lie before lock.time.
  virtual void locked(const Pattern& pattern, const Lock& lock) = 0;
  // An iteration ended. At the same launch, level 0 is reported before the outer levels. The first
  // boundary of a lock or of an outer level ends no iteration: its `iterations` is 0. `gpu_time` is
  // empty; the owner fills it in if an event was recorded at `launch`.
  virtual void boundary(const Boundary& boundary) = 0;
  // Outer levels were found or lost. A level whose `inner` changed is another unit of work.
  virtual void levels_changed(const Pattern& pattern, Instant time) = 0;
  // The phase ended at about `since`. There are no boundaries until the next lock.
  virtual void broken(const Pattern& pattern, Instant since, Instant time) = 0;
  // There was no launch for long, since `since`. Reported once per pause; the pattern is kept.
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
  // Launches were missed until `watched_since`. A locked pattern resumes at its next iteration,
  // whose first boundary ends no iteration; a search starts again.
  void missed(Instant watched_since);
  // Runs an analysis if enough launches came since the last one. Call it after each launch or batch
  // of a few milliseconds; it costs nothing if no analysis is due.
  void analyse_if_due();
  // add() and analyse_if_due() for each launch, for recordings and simulations.
  void add_all(std::span<const Launch> launches);
  // Reports a pause to the sink. `arrived` is when the newest launch was read, which may be long
  // after it was made. Both are on the same axis as the launches' times.
  void check_idle(Instant now, Instant arrived);

  DetectorState state() const;
  // 0..1; 0 while searching.
  double confidence() const;
  std::optional<Pattern> pattern() const;
  // All remembered phases, the locked one included; at most eight.
  std::vector<Pattern> phases() const;
  // The kernels of one iteration of a remembered phase; empty for any other phase.
  std::vector<KernelShare> kernel_mix(std::uint32_t phase) const;
  std::uint64_t launches() const;
  // All memory that the detector holds; it does not grow after construction.
  std::size_t memory_bytes() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace hypermile
