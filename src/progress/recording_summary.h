// SPDX-License-Identifier: Apache-2.0
//
// What the launch detector says of a whole recording: how many iterations, how long they take, on
// which levels, and when the pattern changed. For `hypermile detect` and the tests of recordings.
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
  // Of the pattern that held longest, inner to outer; empty where nothing was resolved.
  std::vector<LevelSummary> levels;
  // Of all patterns, each on its outermost level, from the first launch of the recording to the
  // last.
  double iterations = 0;
  double confidence = 0;         // 0..1
  std::vector<Instant> changes;  // when another pattern took over
  std::string reason;            // why nothing was resolved
};

// `launches` in order of time.
RecordingSummary summarize_recording(std::span<const Launch> launches);

}  // namespace hypermile
