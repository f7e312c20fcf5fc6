// SPDX-License-Identifier: Apache-2.0
//
// Runs the launch detector over a whole recording and summarizes it: how many iterations, how long
// they take, on which levels, and when the pattern changed. For `hypermile detect` and for tests.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "inject/launch.h"

namespace hypermile {

struct LevelSummary {
  Seconds period;
  double iterations = 0;
};

struct RecordingSummary {
  // Levels of the pattern that held longest, from inner to outer; empty if nothing was resolved.
  std::vector<LevelSummary> levels;
  // Iterations of all patterns, each at its outermost level, from the first launch to the last.
  double iterations = 0;
  double confidence = 0;         // 0..1
  std::vector<Instant> changes;  // when another pattern took over
  std::string reason;            // why nothing was resolved
};

// `launches` must be in order of time.
RecordingSummary summarize_recording(std::span<const Launch> launches);

}  // namespace hypermile
