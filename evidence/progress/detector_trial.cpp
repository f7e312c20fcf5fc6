// SPDX-License-Identifier: Apache-2.0
#include "evidence/progress/detector_trial.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr double kLockOff = 0.03;
constexpr double kCountOff = 0.02;
constexpr double kCountEdge = 2;

struct Stretch {
  double counted = 0;
  double really = 0;
};

// Counted and true iterations between boundaries [first, last] of the trace.
Stretch count(const LabelledStream& stream, std::uint64_t from, const DetectorTrace& trace,
              std::size_t first, std::size_t last) {
  Stretch stretch;
  for (std::size_t i = first + 1; i <= last; ++i) stretch.counted += trace.boundaries[i].iterations;
  stretch.really = stream.iterations_at(from + trace.boundaries[last].launch) -
                   stream.iterations_at(from + trace.boundaries[first].launch);
  return stretch;
}

void judge_lock(const LabelledStream& stream, std::uint64_t from, const DetectorTrace& trace,
                std::size_t index, DetectorTrial& trial) {
  const DetectorTrace::Locked& lock = trace.locks[index];
  const std::size_t first = lock.first_boundary;
  const std::size_t end = index + 1 < trace.locks.size() ? trace.locks[index + 1].first_boundary
                                                         : trace.boundaries.size();
  if (end < first + 2) return;
  std::size_t at_lock = first;
  while (at_lock + 1 < end && trace.boundaries[at_lock + 1].launch <= lock.lock.launch) ++at_lock;
  if (at_lock > first) {
    const Stretch then = count(stream, from, trace, first, at_lock);
    const double ratio = then.counted / then.really;
    if (index == 0) trial.ratio_at_lock = ratio;
    if (std::abs(ratio - 1) > kLockOff) trial.wrong = true;
  }
  const Stretch whole = count(stream, from, trace, first, end - 1);
  const double off = whole.counted - whole.really;
  if (std::abs(off) > std::abs(trial.worst_count)) trial.worst_count = off;
  if (std::abs(off) > kCountOff * whole.really + kCountEdge) trial.wrong = true;
}

double locked_share(const LabelledStream& stream, std::uint64_t from, const DetectorTrace& trace) {
  Seconds locked;
  for (std::size_t i = 0; i < trace.locks.size(); ++i) {
    Instant until = stream.launches.back().time;
    if (i < trace.breaks.size()) until = trace.breaks[i].time;
    locked += until - trace.locks[i].lock.time;
  }
  const Seconds all = stream.launches.back().time - stream.launches[from].time;
  return all > Seconds(0) ? locked / all : 0;
}

void judge_levels(const LabelledStream& stream, std::uint64_t from, const DetectorTrace& trace,
                  DetectorTrial& trial) {
  if (stream.inner == 1) {
    trial.level_right = trace.levels.empty() || trace.levels.back().outer.empty();
    return;
  }
  const auto right = [&](const DetectorTrace::Levels& levels) {
    return !levels.outer.empty() && levels.outer.front().inner == stream.inner;
  };
  trial.level_right = !trace.levels.empty() && right(trace.levels.back());
  const auto first = std::ranges::find_if(trace.levels, right);
  if (first == trace.levels.end()) return;
  // A level that is reported during a lock's back-fill is known at the lock.
  std::uint64_t launch = first->launch;
  for (const auto& lock : trace.locks) {
    const bool inside = first->launch <= lock.lock.launch &&
                        first->launch >= trace.boundaries[lock.first_boundary].launch;
    if (inside) launch = std::max(launch, lock.lock.launch);
  }
  trial.level_after = (stream.iterations_at(from + launch) - stream.iterations_at(from)) /
                      static_cast<double>(stream.inner);
}

}  // namespace

void DetectorTrace::locked(const Pattern& pattern, const Lock& lock) {
  locks.push_back({pattern, lock, boundaries.size()});
}

void DetectorTrace::boundary(const Boundary& boundary) {
  (boundary.pattern.level == 0 ? boundaries : outer).push_back(boundary);
}

void DetectorTrace::levels_changed(const Pattern& pattern, Instant time) {
  levels.push_back({pattern.outer, boundaries.empty() ? 0 : boundaries.back().launch, time});
}

void DetectorTrace::broken(const Pattern& pattern, Instant since, Instant time) {
  breaks.push_back({pattern.phase, since, time, detector ? detector->launches() - 1 : 0});
}

DetectorTrace trace(const LabelledStream& stream, std::uint64_t from) {
  DetectorTrace trace;
  LaunchDetector detector(trace);
  trace.detector = &detector;
  detector.add_all(std::span(stream.launches).subspan(from));
  trace.detector = nullptr;
  return trace;
}

DetectorTrial try_detector(const LabelledStream& stream, std::uint64_t from) {
  const DetectorTrace told = trace(stream, from);
  DetectorTrial trial;
  trial.breaks = static_cast<unsigned>(told.breaks.size());
  trial.locked_share = locked_share(stream, from, told);
  if (told.locks.empty()) return trial;
  const Lock& first = told.locks.front().lock;
  trial.lock_after = first.time - stream.launches[from].time;
  for (const auto& lock : told.locks) trial.relevels += lock.lock.relevelled ? 1 : 0;
  if (stream.starts.empty()) return trial;
  trial.lock_iterations = stream.iterations_at(from + first.launch) - stream.iterations_at(from);
  trial.wrong = trial.relevels > 0;
  for (std::size_t i = 0; i < told.locks.size(); ++i) judge_lock(stream, from, told, i, trial);
  judge_levels(stream, from, told, trial);
  return trial;
}

std::vector<DetectorTrial> try_starts(const LabelledStream& stream, std::size_t starts,
                                      Random& random) {
  std::vector<DetectorTrial> trials;
  for (std::size_t i = 0; i < starts; ++i) {
    const double half = 0.5 * static_cast<double>(stream.launches.size());
    const auto from = i == 0 ? 0 : static_cast<std::uint64_t>(half * random.uniform());
    trials.push_back(try_detector(stream, from));
  }
  return trials;
}

}  // namespace hypermile
