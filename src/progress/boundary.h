// SPDX-License-Identifier: Apache-2.0
//
// The point where one iteration ends and the next begins. Detectors and ticks produce Boundaries;
// Windows are measured between them. Plain values.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/units.h"

namespace hypermile {

// Which repeating pattern an iteration belongs to. Only periods with the same identity may be
// compared: another phase or level is another unit of work.
struct PatternId {
  std::uint32_t phase = 0;  // training, evaluation…, numbered in the order of first appearance
  std::uint32_t level = 0;  // 0 is the innermost level that repeats, such as a micro-batch
  bool operator==(const PatternId&) const = default;
};

struct Boundary {
  PatternId pattern;
  Instant time;  // host time; hosts run ahead of the GPU, so single intervals mean little
  // Time on the GPU's own axis, if the injected library recorded an event here. Only differences
  // between times of one stream are meaningful.
  std::optional<Seconds> gpu_time;
  std::uint64_t launch = 0;  // number of the launch that opens the iteration; 0 for ticks
  double iterations = 1;  // iterations that ended here since the previous Boundary of this pattern
  double confidence = 0;  // 0..1
  // Set if the launches before this Boundary were not watched; nothing may be measured across it.
  // The value is the estimated number of iterations that ended meanwhile.
  std::optional<double> unseen = {};
  // The job did something else before this Boundary, such as an evaluation.
  bool behind_interlude = false;
  // Blocks of all grids that were launched since the previous Boundary of this pattern: a longer
  // batch launches more of them. nullopt where that is not known.
  std::optional<double> blocks = {};
};

}  // namespace hypermile
