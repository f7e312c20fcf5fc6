// SPDX-License-Identifier: Apache-2.0
//
// The implementation of LaunchDetector, with three states. Searching: it analyses the launches
// since the search began, at launch counts that grow by half each time. Tentative: the tracker
// follows what was found until it is confirmed. Locked: the tracker reports boundaries until the
// pattern breaks.
//
// detector_stream.cpp handles each launch, detector_analysis.cpp and detector_lock.cpp the work
// between launches, and launch_detector.cpp the questions about the detector's state.
#pragma once

#include <array>
#include <span>

#include "progress/analysis.h"
#include "progress/kernel_numbers.h"
#include "progress/launch_detector.h"
#include "progress/launch_ring.h"
#include "progress/outer_levels.h"
#include "progress/phase_library.h"
#include "progress/tracker.h"

namespace hypermile {

class LaunchDetector::Core {
 public:
  static constexpr std::uint64_t kFirstAnalysis = 16;  // launches
  static constexpr double kLonger = 1.3;  // launches in an iteration, of those of another

  explicit Core(DetectorSink& sink) : sink_(&sink) {}

  void add(const Launch& launch);
  void missed(Instant watched_since);
  void analyse_if_due();
  void check_idle(Instant now, Instant arrived);

  // An interlude belongs to the pattern that is expected back.
  DetectorState state() const { return held_ ? DetectorState::kLocked : state_; }
  double confidence() const;
  std::optional<Pattern> pattern() const;
  std::vector<Pattern> phases() const;
  std::vector<KernelShare> kernel_mix(std::uint32_t phase) const;
  std::uint64_t launches() const { return ring_.end(); }
  std::size_t memory_bytes() const;

 private:
  Instant now() const { return ring_.time(ring_.end() - 1); }
  std::uint64_t searched() const { return ring_.end() - search_start_; }
  Instant in_order(Instant time);
  void search_from(std::uint64_t launch);

  void note_wait(Seconds wait);
  void search_library();
  void follow_tentative(KernelNumber previous, KernelNumber kernel);
  void follow_locked(std::uint64_t launch, KernelNumber previous, KernelNumber kernel);

  void analyse();
  std::uint64_t recent() const;
  void look_at_recent();
  std::optional<Finding> look_back();
  void consider(const std::optional<Finding>& finding);
  void consider_in_lock(std::optional<Finding> finding);
  std::optional<Finding> find(std::uint64_t length);
  bool stands_up(const Finding& finding);
  bool replay_tentative(std::uint64_t from);
  void weigh_evidence();
  bool one_long_pause() const;
  bool evaluates(std::uint32_t phase, std::uint32_t training) const;
  void lock(bool relevelled);
  void lock_known();
  void begin_lock(std::uint64_t from, const Lock& lock);
  void tell_boundary(std::uint64_t launch);
  void leave(bool may_hold);
  void give_up_hold();
  bool turns_out_stage(std::uint64_t from, std::uint64_t to);
  bool is_stage(std::uint32_t phase) const;
  double least_launches();
  std::optional<double> hidden_since(const std::optional<std::uint64_t>& last,
                                     std::uint64_t until) const;

  bool repeats_forward_pass(const Reference& reference, std::span<const KernelNumber> kernels,
                            bool seldom) const;
  Pattern make_pattern(std::uint32_t phase, const Reference& reference) const;
  Anchor anchor_of(const Reference& reference) const;

  DetectorSink* sink_;
  KernelNumbers numbers_;
  LaunchRing ring_;
  Analysis analysis_;
  Tracker tracker_;
  Tracker trial_;  // of a pattern that is not yet believed to be better
  OuterLevels outer_;
  PhaseLibrary library_;

  DetectorState state_ = DetectorState::kSearch;
  std::uint64_t search_start_ = 0;
  // Launches after search_start_ at which the next analysis is due.
  std::uint64_t due_ = kFirstAnalysis;
  std::uint64_t analysed_ = 0;  // launches after search_start_ at the last analysis
  Instant looked_;              // time of the last analysis of any stretch
  Reference reference_;         // the tentative or locked pattern
  double gap_ = 0;              // launches per iteration of that pattern
  double waits_ = 1;            // see Finding::waits
  unsigned agreeing_ = 0;
  unsigned better_ = 0;  // consecutive analyses that found something better
  bool lock_pending_ = false;
  std::optional<PhaseLibrary::Match> match_pending_;
  std::uint32_t phase_ = 0;
  struct LastBoundary {
    std::uint32_t phase = 0;
    std::uint64_t launch = 0;
    Instant time;
    bool for_evaluation = false;  // the phase was left for an evaluation that was one of its own
  };
  // Of the pattern in force; nullopt if launches were missed since.
  std::optional<LastBoundary> last_boundary_;
  std::optional<LastBoundary> left_;  // where the last phase that was left ended
  // Where the training ended whose evaluation is in force.
  std::optional<LastBoundary> training_;
  // Set during an interlude that is expected to end soon, and that is therefore not reported.
  struct Hold {
    Pattern left;
    Instant since;     // when the pattern ended
    Instant deadline;  // when it is broken after all
  };
  std::optional<Hold> held_;
  // Set while patterns are known to be stages of longer rounds.
  struct Rounds {
    double least = 0;        // launches, which a round exceeds
    std::uint64_t seen = 0;  // launch at which a stage was seen last
  };
  std::optional<Rounds> rounds_;
  double carried_ = 0;  // iterations that ended during an interlude, for the next boundary
  double doubted_ = 0;  // iterations that count if the pattern goes on
  // Launches in a lock that were not like the pattern.
  struct Doubt {
    std::uint64_t begin = 0;
    std::optional<std::uint64_t> end;  // set once the pattern goes on
  };
  std::optional<Doubt> doubt_;
  bool behind_interlude_ = false;  // see Boundary
  bool idle_told_ = false;
  std::array<Seconds, 2> waits_of_host_{};  // the longest between two launches, slowly forgotten
  Instant watched_since_;
};

}  // namespace hypermile
