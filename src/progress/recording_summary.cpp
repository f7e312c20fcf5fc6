// SPDX-License-Identifier: Apache-2.0
#include "progress/recording_summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "progress/forward_pass.h"
#include "progress/hidden_iterations.h"
#include "progress/launch_detector.h"
#include "progress/period.h"

namespace hypermile {
namespace {

constexpr double kInterlude = 2;  // iterations, in launches
// Of the phase that lasts longest.
constexpr double kStartUpTime = 0.1;
constexpr double kStartUpLaunches = 0.05;

// A time in one pattern, from its first known boundary to its last.
struct Stay {
  std::uint32_t phase = 0;
  std::vector<Boundary> boundaries;  // boundaries of the innermost level
  double iterations() const {
    double sum = 0;
    for (std::size_t i = 1; i < boundaries.size(); ++i) sum += boundaries[i].iterations;
    return sum;
  }
  double launches() const {
    return boundaries.empty()
               ? 0
               : static_cast<double>(boundaries.back().launch - boundaries.front().launch);
  }
  Seconds span() const {
    return boundaries.empty() ? Seconds(0) : boundaries.back().time - boundaries.front().time;
  }
};

class Collector final : public DetectorSink {
 public:
  void locked(const Pattern& pattern, const Lock& lock) override {
    patterns[pattern.phase] = pattern;
    // What was counted since the last lock was something else.
    if (lock.relevelled && !stays.empty()) stays.pop_back();
    if (broken_since && broken_phase != pattern.phase) {
      changes.push_back({broken_phase, *broken_since});
    }
    broken_since.reset();
    stays.push_back({pattern.phase, {}});
  }
  void boundary(const Boundary& boundary) override {
    if (boundary.pattern.level != 0 || stays.empty()) return;
    if (after_interlude(boundary)) stays.push_back({boundary.pattern.phase, {}});
    stays.back().boundaries.push_back(boundary);
  }
  void levels_changed(const Pattern& pattern, Instant) override {
    Pattern& kept = patterns[pattern.phase];
    // A short stay at the end may show fewer levels again; the phase keeps those that were found.
    if (pattern.outer.size() >= kept.outer.size()) kept = pattern;
  }
  void broken(const Pattern& pattern, Instant since, Instant) override {
    broken_since = since;
    broken_phase = pattern.phase;
  }
  void idle(Instant) override {}

  // The detector counts on over an evaluation; the period is that of the steps alone.
  bool after_interlude(const Boundary& boundary) const {
    if (stays.back().boundaries.empty()) return false;
    if (patterns.at(boundary.pattern.phase).elastic) return false;
    const auto launches =
        static_cast<double>(boundary.launch - stays.back().boundaries.back().launch);
    return launches > kInterlude * std::max(1.0, boundary.iterations) *
                          patterns.at(boundary.pattern.phase).launches_per_iteration;
  }

  // Forgets a phase that turned out to be a stage of a longer round.
  void forget(std::uint32_t phase) {
    std::erase_if(stays, [&](const Stay& stay) { return stay.phase == phase; });
    std::erase_if(changes, [&](const Change& change) { return change.from == phase; });
    patterns.erase(phase);
  }

  struct Change {
    std::uint32_t from = 0;  // phase
    Instant time;
  };
  std::vector<Stay> stays;
  std::map<std::uint32_t, Pattern> patterns;
  std::vector<Change> changes;
  std::optional<Instant> broken_since;
  std::uint32_t broken_phase = 0;
};

// Neither an epoch is an iteration nor what lies between two lines of a log.
double inner_per_outermost(const Pattern& pattern) {
  double inner = 1;
  for (const OuterLevel& outer : pattern.outer) {
    if (outer.is_iteration()) inner = std::max(1U, outer.inner);
  }
  return inner;
}

// The iterations of `phase` that hide in launches without boundaries.
double hidden_in(std::span<const Launch> launches, const LaunchDetector& detector,
                 std::uint32_t phase) {
  std::map<std::uint32_t, HiddenKernel> kernels;
  for (const KernelShare& share : detector.kernel_mix(phase)) {
    kernels[share.kernel].per_iteration = share.count;
  }
  for (const Launch& launch : launches) {
    const auto found = kernels.find(launch.kernel);
    if (found != kernels.end()) found->second.launched += 1;
  }
  std::vector<HiddenKernel> counted;
  for (const auto& [kernel, each] : kernels) counted.push_back(each);
  return hidden_iterations(std::move(counted));
}

// An evaluation: a shorter phase from which the job returned to the longer one before it, or the
// forward pass of its neighbour. Anything else that a job does first or last counts.
std::set<std::uint32_t> evaluations(const Collector& seen, const LaunchDetector& detector) {
  std::set<std::uint32_t> phases;
  const auto evaluates = [&](std::uint32_t phase, std::uint32_t training) {
    return is_forward_pass(detector.kernel_mix(phase), detector.kernel_mix(training));
  };
  for (std::size_t i = 1; i < seen.stays.size(); ++i) {
    const std::uint32_t before = seen.stays[i - 1].phase;
    const std::uint32_t phase = seen.stays[i].phase;
    if (before == phase) continue;
    const bool returned = i + 1 < seen.stays.size() && seen.stays[i + 1].phase == before;
    const bool shorter = seen.patterns.at(phase).launches_per_iteration <
                         seen.patterns.at(before).launches_per_iteration;
    if ((returned && shorter) || evaluates(phase, before)) phases.insert(phase);
    if (evaluates(before, phase)) phases.insert(before);
  }
  return phases;
}

// Counts outermost iterations over the whole recording: those within stays, and those hidden
// before, between and behind them.
double count_iterations(const Collector& seen, std::span<const Launch> launches,
                        const LaunchDetector& detector, const std::set<std::uint32_t>& uncounted) {
  double sum = 0;
  std::uint64_t covered = 0;
  std::optional<std::uint32_t> before;  // phase of the counted stay before the gap
  const auto count = [&](std::uint32_t phase, double iterations) {
    sum += iterations / inner_per_outermost(seen.patterns.at(phase));
  };
  const auto count_gap = [&](std::uint32_t phase, std::uint64_t end) {
    const auto gap = launches.subspan(covered, end - covered);
    const double hidden = hidden_in(gap, detector, phase);
    // Less than an iteration's launches is a part of one; more is something else.
    const double rest =
        static_cast<double>(gap.size()) / seen.patterns.at(phase).launches_per_iteration - hidden;
    count(phase, hidden + (rest > 0 && rest < 1 ? rest : 0));
  };
  for (const Stay& stay : seen.stays) {
    if (uncounted.contains(stay.phase)) continue;
    const std::uint64_t first = std::max(stay.boundaries.front().launch, covered);
    count_gap(before.value_or(stay.phase), first);
    count(stay.phase, stay.iterations());
    covered = std::max(covered, stay.boundaries.back().launch);
    before = stay.phase;
  }
  if (before) count_gap(*before, launches.size());
  return sum;
}

// A robust slope leaves out what is rare. Where lengths differ, long iterations are rare and count.
Seconds period_of(const Stay& stay, bool elastic) {
  if (elastic) return stay.span() / std::max(1.0, stay.iterations());
  if (const auto period = estimate_period(stay.boundaries)) return period->per_iteration;
  return stay.span() / std::max(1.0, stay.iterations());
}

using SecondsByPhase = std::map<std::uint32_t, double>;

std::uint32_t longest(const SecondsByPhase& seconds) {
  return std::ranges::max_element(seconds, {}, &SecondsByPhase::value_type::second)->first;
}

// What a job does at its beginning, for a short while and never again: it fills the weights of its
// layers, say.
std::set<std::uint32_t> start_up(const Collector& seen) {
  SecondsByPhase seconds;
  std::map<std::uint32_t, double> launches;
  for (const Stay& stay : seen.stays) {
    seconds[stay.phase] += stay.span().value();
    launches[stay.phase] += stay.launches();
  }
  const std::uint32_t main = longest(seconds);
  const auto begin = std::ranges::find(seen.stays, main, &Stay::phase);
  std::set<std::uint32_t> phases;
  for (auto stay = seen.stays.begin(); stay != begin; ++stay) {
    const bool returns = std::any_of(begin, seen.stays.end(),
                                     [&](const Stay& one) { return one.phase == stay->phase; });
    const bool little = seconds[stay->phase] < kStartUpTime * seconds[main] ||
                        launches[stay->phase] < kStartUpLaunches * launches[main];
    if (little && !returns) phases.insert(stay->phase);
  }
  return phases;
}

void describe_levels(const Collector& seen, const std::set<std::uint32_t>& uncounted,
                     RecordingSummary& summary) {
  SecondsByPhase seconds;
  std::map<std::uint32_t, double> iterations;
  for (const Stay& stay : seen.stays) {
    if (uncounted.contains(stay.phase)) continue;
    seconds[stay.phase] += stay.span().value();
    iterations[stay.phase] += stay.iterations();
  }
  const Pattern& pattern = seen.patterns.at(longest(seconds));
  const Stay& stay = *std::ranges::max_element(seen.stays, {}, [&](const Stay& one) {
    return one.phase == pattern.phase ? one.span().value() : -1.0;
  });
  const Seconds period = period_of(stay, pattern.elastic);
  summary.confidence = pattern.confidence;
  summary.levels.push_back({period, iterations[pattern.phase]});
  for (const OuterLevel& outer : pattern.outer) {
    if (!outer.is_iteration()) continue;
    const auto inner = static_cast<double>(outer.inner);
    summary.levels.push_back({period * inner, iterations[pattern.phase] / inner});
  }
}

}  // namespace

RecordingSummary summarize_recording(std::span<const Launch> launches) {
  RecordingSummary summary;
  Collector seen;
  LaunchDetector detector(seen);
  detector.add_all(launches);
  std::erase_if(seen.stays, [](const Stay& stay) { return stay.boundaries.size() < 2; });
  bool stages = false;
  for (const Pattern& pattern : detector.phases()) {
    if (pattern.stage) seen.forget(pattern.phase);
    stages |= pattern.stage;
  }
  if (seen.stays.empty()) {
    summary.reason = launches.empty() ? "the recording has no launches"
                     : stages         ? "the stages of longer rounds repeat, but the rounds do not"
                     : detector.state() == DetectorState::kTentative
                         ? "something repeats, but not for long enough to be sure"
                         : "no pattern of launches repeats";
    return summary;
  }
  std::set<std::uint32_t> uncounted = evaluations(seen, detector);
  uncounted.merge(start_up(seen));
  describe_levels(seen, uncounted, summary);
  summary.iterations = count_iterations(seen, launches, detector, uncounted);
  // With a single pattern, its levels also count over the whole recording.
  if (seen.patterns.size() == uncounted.size() + 1) {
    const double outermost = summary.levels.back().iterations;
    const double grown = outermost > 0 ? summary.iterations / outermost : 1;
    for (LevelSummary& level : summary.levels) level.iterations *= grown;
  }
  for (const Collector::Change& change : seen.changes) summary.changes.push_back(change.time);
  return summary;
}

}  // namespace hypermile
