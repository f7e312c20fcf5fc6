// SPDX-License-Identifier: Apache-2.0
#include "progress/recording_summary.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "progress/launch_detector.h"
#include "progress/period.h"

namespace hypermile {
namespace {

// A time in one pattern, from its first known boundary to its last.
struct Stay {
  std::uint32_t phase = 0;
  std::vector<Boundary> boundaries;  // boundaries of the innermost level
  double iterations() const {
    double sum = 0;
    for (std::size_t i = 1; i < boundaries.size(); ++i) sum += boundaries[i].iterations;
    return sum;
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
    if (broken_since && broken_phase != pattern.phase) changes.push_back(*broken_since);
    broken_since.reset();
    stays.push_back({pattern.phase, {}});
  }
  void boundary(const Boundary& boundary) override {
    if (boundary.pattern.level == 0 && !stays.empty()) stays.back().boundaries.push_back(boundary);
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

  std::vector<Stay> stays;
  std::map<std::uint32_t, Pattern> patterns;
  std::vector<Instant> changes;
  std::optional<Instant> broken_since;
  std::uint32_t broken_phase = 0;
};

double inner_per_outermost(const Pattern& pattern) {
  return pattern.outer.empty() ? 1 : std::max(1U, pattern.outer.back().inner);
}

// Estimates the iterations before the first boundary and after the last of each stay from launches,
// up to the neighbouring stay or the end of the recording.
double at_the_edges(const std::vector<Stay>& stays,
                    const std::map<std::uint32_t, Pattern>& patterns, std::size_t launches) {
  double sum = 0;
  std::uint64_t covered = 0;
  for (const Stay& stay : stays) {
    const Pattern& pattern = patterns.at(stay.phase);
    const std::uint64_t first = stay.boundaries.front().launch;
    const double each =
        std::max(1.0, pattern.launches_per_iteration) * inner_per_outermost(pattern);
    if (first > covered) sum += static_cast<double>(first - covered) / each;
    covered = std::max(covered, stay.boundaries.back().launch);
    if (&stay == &stays.back() && launches > covered) {
      sum += static_cast<double>(launches - covered) / each;
    }
  }
  return sum;
}

Seconds period_of(const Stay& stay) {
  if (const auto period = estimate_period(stay.boundaries)) return period->per_iteration;
  return stay.span() / std::max(1.0, stay.iterations());
}

void describe_levels(const Collector& seen, RecordingSummary& summary) {
  std::map<std::uint32_t, double> seconds;
  std::map<std::uint32_t, double> iterations;
  for (const Stay& stay : seen.stays) {
    seconds[stay.phase] += stay.span().value();
    iterations[stay.phase] += stay.iterations();
  }
  const auto longest =
      std::ranges::max_element(seconds, {}, [](const auto& entry) { return entry.second; });
  const Pattern& pattern = seen.patterns.at(longest->first);
  const Stay& stay = *std::ranges::max_element(seen.stays, {}, [&](const Stay& one) {
    return one.phase == pattern.phase ? one.span().value() : -1.0;
  });
  const Seconds period = period_of(stay);
  summary.confidence = pattern.confidence;
  summary.levels.push_back({period, iterations[pattern.phase]});
  for (const OuterLevel& outer : pattern.outer) {
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
  if (seen.stays.empty()) {
    summary.reason = launches.empty() ? "the recording has no launches"
                     : detector.state() == DetectorState::kTentative
                         ? "something repeats, but not for long enough to be sure"
                         : "no pattern of launches repeats";
    return summary;
  }
  describe_levels(seen, summary);
  for (const Stay& stay : seen.stays) {
    summary.iterations += stay.iterations() / inner_per_outermost(seen.patterns.at(stay.phase));
  }
  const double edges = at_the_edges(seen.stays, seen.patterns, launches.size());
  summary.iterations += edges;
  // With a single pattern, its levels also count over the whole recording.
  if (seen.patterns.size() == 1) {
    const double outermost = summary.levels.back().iterations;
    const double grown = outermost > 0 ? summary.iterations / outermost : 1;
    for (LevelSummary& level : summary.levels) level.iterations *= grown;
  }
  summary.changes = seen.changes;
  return summary;
}

}  // namespace hypermile
