// SPDX-License-Identifier: Apache-2.0
//
// The detector's states. Searching: analyses of what came since the search began, at launch counts
// that grow by half each time. Tentative: the tracker follows what was found until it is confirmed.
// Locked: the tracker tells the boundaries, until the pattern breaks.
#include "progress/launch_detector.h"

#include <algorithm>
#include <cmath>

#include "progress/analysis.h"
#include "progress/confirmation.h"
#include "progress/kernel_numbers.h"
#include "progress/launch_ring.h"
#include "progress/outer_levels.h"
#include "progress/phase_library.h"
#include "progress/tracker.h"

namespace hypermile {
namespace {

constexpr std::uint64_t kFirstAnalysis = 16;  // launches
constexpr double kSameGap = 0.05;
constexpr double kTentativeConfidence = 0.3;
constexpr double kBetter = 0.1;  // quality, for another level
constexpr double kBetterLengths = 8;
constexpr Seconds kIdle(5);
constexpr double kIdlePeriods = 20;
constexpr Seconds kClockWentBack(1);
// Half the axis: differences never overflow.
constexpr std::int64_t kFarthest = std::int64_t{1} << 61;

}  // namespace

class LaunchDetector::Core {
 public:
  explicit Core(DetectorSink& sink) : sink_(&sink) {}

  void add(const Launch& launch);
  void analyse_if_due();
  void check_idle(Instant now);

  DetectorState state() const { return state_; }
  double confidence() const;
  std::optional<Pattern> pattern() const;
  std::vector<Pattern> phases() const;
  std::uint64_t launches() const { return ring_.end(); }
  std::size_t memory_bytes() const;

 private:
  Instant now() const { return ring_.time(ring_.end() - 1); }
  std::uint64_t searched() const { return ring_.end() - search_start_; }
  Instant in_order(Instant time);
  void search_from(std::uint64_t launch);

  void watch_library();
  void follow_tentative(KernelNumber previous, KernelNumber kernel);
  void follow_locked(std::uint64_t launch, KernelNumber previous, KernelNumber kernel);

  void analyse();
  std::optional<Finding> look_back();
  void consider(const std::optional<Finding>& finding);
  void consider_in_lock(std::optional<Finding> finding);
  bool replay_tentative(std::uint64_t from);
  void weigh_evidence();
  void lock(bool relevelled);
  void lock_known();
  void begin_lock(std::uint64_t from, const Lock& lock);
  void tell_boundary(std::uint64_t launch);
  void leave();

  Pattern make_pattern(std::uint32_t phase, const Reference& reference) const;
  Anchor anchor_of(const Reference& reference) const;

  DetectorSink* sink_;
  KernelNumbers numbers_;
  LaunchRing ring_;
  Analysis analysis_;
  Tracker tracker_;
  OuterLevels outer_;
  PhaseLibrary library_;

  DetectorState state_ = DetectorState::kSearch;
  std::uint64_t search_start_ = 0;
  std::uint64_t due_ = kFirstAnalysis;  // launches since search_start_
  std::uint64_t analysed_ = 0;          // launches since search_start_ at the last analysis
  Reference reference_;                 // tentative or locked
  double gap_ = 0;                      // of the finding behind it
  double waits_ = 1;                    // likewise
  unsigned agreeing_ = 0;
  unsigned better_ = 0;  // analyses in a row that found something better
  bool lock_pending_ = false;
  std::optional<PhaseLibrary::Match> match_pending_;
  std::uint32_t phase_ = 0;
  bool idle_told_ = false;
};

// Time never runs backwards: by a little is disorder between threads; by more, another clock, and
// what came before is worth nothing.
Instant LaunchDetector::Core::in_order(Instant time) {
  const auto ns = std::clamp(time.nanoseconds(), -kFarthest, kFarthest);
  time = Instant::from_nanoseconds(ns);
  if (ring_.end() == 0 || time >= now()) return time;
  if (now() - time < kClockWentBack) return now();
  if (state_ == DetectorState::kLocked) leave();
  search_from(ring_.end());
  return time;
}

void LaunchDetector::Core::search_from(std::uint64_t launch) {
  state_ = DetectorState::kSearch;
  search_start_ = launch;
  due_ = kFirstAnalysis;
  analysed_ = 0;
  agreeing_ = 0;
  lock_pending_ = false;
  match_pending_.reset();
  library_.watch_from(launch);
}

void LaunchDetector::Core::add(const Launch& launch) {
  const Instant time = in_order(launch.time);
  const std::uint64_t at = ring_.end();
  const KernelNumber previous = at > 0 ? ring_.kernel(at - 1) : KernelNumbers::kOther;
  const KernelNumber kernel = numbers_.number(launch.kernel);
  ring_.push(time, kernel);
  idle_told_ = false;
  switch (state_) {
    case DetectorState::kSearch:
      watch_library();
      break;
    case DetectorState::kTentative:
      watch_library();
      follow_tentative(previous, kernel);
      break;
    case DetectorState::kLocked:
      follow_locked(at, previous, kernel);
      break;
  }
}

void LaunchDetector::Core::watch_library() {
  if (match_pending_ || library_.phases().empty()) return;
  match_pending_ = library_.watch(ring_);
}

void LaunchDetector::Core::follow_tentative(KernelNumber previous, KernelNumber kernel) {
  switch (tracker_.add(ring_.end() - 1, previous, kernel)) {
    case Tracker::Step::kNothing:
      break;
    case Tracker::Step::kBoundary:
      weigh_evidence();
      break;
    case Tracker::Step::kBroken:
      state_ = DetectorState::kSearch;
      agreeing_ = 0;
      lock_pending_ = false;
      break;
  }
}

void LaunchDetector::Core::follow_locked(std::uint64_t launch, KernelNumber previous,
                                         KernelNumber kernel) {
  const Tracker::Step step = tracker_.add(launch, previous, kernel);
  if (step == Tracker::Step::kNothing) return;
  if (step == Tracker::Step::kBoundary) return tell_boundary(launch);
  leave();
}

void LaunchDetector::Core::weigh_evidence() {
  const std::uint64_t first = std::max(tracker_.first_boundary(), ring_.begin());
  const Evidence evidence{.quality = reference_.quality,
                          .segments = tracker_.segments(),
                          .lasting = now() - ring_.time(first),
                          .agreeing = agreeing_,
                          .explained = ring_.end() - tracker_.first_boundary(),
                          .searched = searched(),
                          .gaps = tracker_.gaps(),
                          .gap_cv = tracker_.gap_cv(),
                          .launches = tracker_.mean_gap(),
                          .waits = waits_,
                          .distinct = tracker_.distinct()};
  const Verdict verdict = judge(evidence);
  lock_pending_ = verdict == Verdict::kBelieved;
  // An analysis that has seen a tenth more is worth asking for.
  if (verdict == Verdict::kAnalyse) {
    due_ = std::min(due_, std::max(analysed_ + analysed_ / 10 + 1, searched()));
  }
}

void LaunchDetector::Core::analyse_if_due() {
  if (match_pending_ && state_ != DetectorState::kLocked) {
    lock_known();
  } else if (lock_pending_) {
    lock(false);
  } else if (searched() >= due_) {
    analyse();
  }
}

std::optional<Finding> LaunchDetector::Core::look_back() {
  const std::uint64_t end = ring_.end();
  const std::uint64_t length = searched();
  auto finding = analysis_.run(ring_, end - length, end);
  if (finding || state_ == DetectorState::kLocked) return finding;
  for (const std::uint64_t part : {length / 2, length / 4}) {
    if (part < kFirstAnalysis) break;
    finding = analysis_.run(ring_, end - part, end);
    if (finding) break;
  }
  return finding;
}

void LaunchDetector::Core::analyse() {
  // A long search, or lock, is looked at through its newest part.
  if (searched() > LaunchRing::kSize) search_start_ = ring_.end() - LaunchRing::kSize / 2;
  analysed_ = searched();
  const bool locked = state_ == DetectorState::kLocked;
  due_ = locked ? 2 * analysed_ : analysed_ + analysed_ / 2;
  auto finding = look_back();
  if (locked) {
    consider_in_lock(std::move(finding));
  } else {
    consider(finding);
  }
}

void LaunchDetector::Core::consider(const std::optional<Finding>& finding) {
  if (!finding) {
    agreeing_ = 0;
    lock_pending_ = false;
    return;
  }
  const bool tentative = state_ == DetectorState::kTentative;
  const bool same = tentative && std::abs(finding->gap - gap_) <= kSameGap * gap_;
  agreeing_ = same ? agreeing_ + 1 : 0;
  const std::uint64_t from =
      same ? std::min(tracker_.first_boundary(), finding->first_boundary) : finding->first_boundary;
  gap_ = finding->gap;
  waits_ = finding->waits;
  reference_ = finding->reference;
  lock_pending_ = false;
  state_ = DetectorState::kSearch;
  if (!replay_tentative(from)) {
    agreeing_ = 0;
    return;
  }
  state_ = DetectorState::kTentative;
  weigh_evidence();
  if (lock_pending_) lock(false);
}

// Follows reference_ from there to now, starting over where it breaks. False where that leaves no
// whole iteration.
bool LaunchDetector::Core::replay_tentative(std::uint64_t from) {
  tracker_.start(reference_);
  for (std::uint64_t i = std::max(from, ring_.begin()); i < ring_.end(); ++i) {
    if (tracker_.add(i, ring_.previous(i), ring_.kernel(i)) == Tracker::Step::kBroken) {
      tracker_.start(reference_);
    }
  }
  return tracker_.segments() > 0;
}

void LaunchDetector::Core::consider_in_lock(std::optional<Finding> finding) {
  gap_ = tracker_.mean_gap();
  const bool same = finding && std::abs(finding->gap - gap_) <= kSameGap * gap_;
  if (same) reference_.quality = std::max(reference_.quality, finding->reference.quality);
  const bool better = finding && !same &&
                      finding->reference.quality > reference_.quality + kBetter &&
                      static_cast<double>(searched()) > kBetterLengths * finding->gap;
  better_ = better ? better_ + 1 : 0;
  if (better_ < 2) return;
  gap_ = finding->gap;
  reference_ = std::move(finding->reference);
  if (replay_tentative(finding->first_boundary)) {
    lock(true);
  } else {
    search_from(search_start_);
  }
}

void LaunchDetector::Core::lock(bool relevelled) {
  lock_pending_ = false;
  phase_ = library_.recognise(reference_);
  begin_lock(tracker_.first_boundary(),
             {.time = now(), .launch = ring_.end() - 1, .known = false, .relevelled = relevelled});
}

void LaunchDetector::Core::lock_known() {
  const PhaseLibrary::Match match = *match_pending_;
  match_pending_.reset();
  const PhaseLibrary::Phase* phase = library_.find(match.number);
  if (phase == nullptr) return;
  reference_ = phase->reference;
  if (!replay_tentative(match.first_boundary)) {
    state_ = DetectorState::kSearch;
    return;
  }
  phase_ = match.number;
  gap_ = tracker_.mean_gap();
  begin_lock(tracker_.first_boundary(),
             {.time = now(), .launch = ring_.end() - 1, .known = true, .relevelled = false});
}

// The tracker starts over so that it tells the boundaries since `from`.
void LaunchDetector::Core::begin_lock(std::uint64_t from, const Lock& lock) {
  state_ = DetectorState::kLocked;
  better_ = 0;
  search_start_ = std::max(from, ring_.begin());
  analysed_ = searched();
  due_ = 2 * analysed_;
  outer_.start();
  sink_->locked(make_pattern(phase_, reference_), lock);
  tracker_.start(reference_);
  const std::uint64_t end = ring_.end();
  for (std::uint64_t i = search_start_; i < end && state_ == DetectorState::kLocked; ++i) {
    follow_locked(i, ring_.previous(i), ring_.kernel(i));
  }
}

void LaunchDetector::Core::tell_boundary(std::uint64_t launch) {
  Boundary boundary{.pattern = {phase_, 0},
                    .time = ring_.time(launch),
                    .gpu_time = std::nullopt,
                    .launch = launch,
                    .iterations = static_cast<double>(tracker_.iterations()),
                    .confidence = reference_.quality};
  sink_->boundary(boundary);
  if (tracker_.iterations() == 0) return;
  if (outer_.ended(tracker_.iterations(), tracker_.events())) {
    sink_->levels_changed(make_pattern(phase_, reference_), boundary.time);
  }
  for (const OuterLevels::Level& level : outer_.levels()) {
    ++boundary.pattern.level;
    if (!level.ended) continue;
    boundary.iterations = level.iterations;
    sink_->boundary(boundary);
  }
}

void LaunchDetector::Core::leave() {
  const std::uint64_t since = std::max(tracker_.first_bad(), ring_.begin());
  const Pattern left = make_pattern(phase_, reference_);
  library_.update(phase_, tracker_.learnt(reference_));
  search_from(since);
  sink_->broken(left, ring_.time(since), now());
}

void LaunchDetector::Core::check_idle(Instant now_told) {
  if (ring_.end() == 0 || idle_told_) return;
  double longest = kIdle.value();
  if (state_ == DetectorState::kLocked) {
    const std::uint64_t first = std::max(search_start_, ring_.begin());
    const double launches = static_cast<double>(ring_.end() - first);
    const double period = (now() - ring_.time(first)).value() / launches * tracker_.mean_gap();
    longest = std::max(longest, kIdlePeriods * period);
  }
  if (now_told - now() < Seconds(longest)) return;
  idle_told_ = true;
  sink_->idle(now());
}

double LaunchDetector::Core::confidence() const {
  if (state_ == DetectorState::kSearch) return 0;
  return reference_.quality * (state_ == DetectorState::kLocked ? 1 : kTentativeConfidence);
}

Anchor LaunchDetector::Core::anchor_of(const Reference& reference) const {
  Anchor anchor{numbers_.kernel(reference.anchor.kernel), std::nullopt};
  if (reference.anchor.pair) anchor.previous = numbers_.kernel(reference.anchor.previous);
  return anchor;
}

Pattern LaunchDetector::Core::make_pattern(std::uint32_t phase, const Reference& reference) const {
  Pattern pattern{.phase = phase,
                  .anchor = anchor_of(reference),
                  .launches_per_iteration = tracker_.mean_gap(),
                  .similarity = tracker_.similarity(),
                  .confidence = confidence(),
                  .outer = {}};
  if (state_ != DetectorState::kLocked) return pattern;
  std::uint32_t level = 0;
  for (const OuterLevels::Level& each : outer_.levels()) {
    pattern.outer.push_back({++level, each.inner, numbers_.kernel(each.kernel)});
  }
  return pattern;
}

std::optional<Pattern> LaunchDetector::Core::pattern() const {
  if (state_ == DetectorState::kSearch) return std::nullopt;
  return make_pattern(phase_, reference_);
}

std::vector<Pattern> LaunchDetector::Core::phases() const {
  std::vector<Pattern> patterns;
  for (const PhaseLibrary::Phase& phase : library_.phases()) {
    if (state_ == DetectorState::kLocked && phase.number == phase_) {
      patterns.push_back(make_pattern(phase_, reference_));
      continue;
    }
    patterns.push_back({.phase = phase.number,
                        .anchor = anchor_of(phase.reference),
                        .launches_per_iteration = phase.reference.length(),
                        .similarity = phase.reference.similarity,
                        .confidence = phase.reference.quality,
                        .outer = {}});
  }
  return patterns;
}

std::size_t LaunchDetector::Core::memory_bytes() const {
  return sizeof(*this) + numbers_.memory_bytes() + ring_.memory_bytes() + analysis_.memory_bytes() +
         tracker_.memory_bytes() + outer_.memory_bytes() + library_.memory_bytes() +
         reference_.counts.capacity() * sizeof(KernelCount);
}

LaunchDetector::LaunchDetector(DetectorSink& sink) : core_(std::make_unique<Core>(sink)) {}
LaunchDetector::~LaunchDetector() = default;
LaunchDetector::LaunchDetector(LaunchDetector&&) noexcept = default;
LaunchDetector& LaunchDetector::operator=(LaunchDetector&&) noexcept = default;

void LaunchDetector::add(const Launch& launch) {
  core_->add(launch);
}
void LaunchDetector::analyse_if_due() {
  core_->analyse_if_due();
}
void LaunchDetector::add_all(std::span<const Launch> launches) {
  for (const Launch& launch : launches) {
    core_->add(launch);
    core_->analyse_if_due();
  }
}
void LaunchDetector::check_idle(Instant now) {
  core_->check_idle(now);
}
DetectorState LaunchDetector::state() const {
  return core_->state();
}
double LaunchDetector::confidence() const {
  return core_->confidence();
}
std::optional<Pattern> LaunchDetector::pattern() const {
  return core_->pattern();
}
std::vector<Pattern> LaunchDetector::phases() const {
  return core_->phases();
}
std::uint64_t LaunchDetector::launches() const {
  return core_->launches();
}
std::size_t LaunchDetector::memory_bytes() const {
  return core_->memory_bytes();
}

}  // namespace hypermile
