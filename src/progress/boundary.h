// SPDX-License-Identifier: Apache-2.0
//
// Where one iteration ends and the next begins. Detectors and ticks make Boundaries; Windows are
// measured between them.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/units.h"

namespace hypermile {

// Which repeating pattern an iteration belongs to. Periods may be compared only under the same
// identity: another phase, another level or another anchor is another unit of work.
struct PatternId {
  std::uint32_t phase = 0;  // training, evaluation…: numbered as they are first met
  std::uint32_t level = 0;  // 0 is the innermost that repeats (a micro-batch, where there are some)
  bool operator==(const PatternId&) const = default;
};

struct Boundary {
  PatternId pattern;
  Instant time;  // of the host; hosts run ahead of the GPU, so single intervals mean little
  // Time on the GPU's own axis, where the injected library recorded an event here. Only differences
  // between two of one stream's mean something.
  std::optional<Seconds> gpu_time;
  std::uint64_t launch = 0;  // number of the launch that opens the iteration; 0 for ticks
  double iterations = 1;     // that ended here since the previous Boundary of this pattern
  double confidence = 0;     // 0..1
  // The launches before it were not watched: nothing may be measured across it. So many iterations
  // are thought to have ended meanwhile.
  std::optional<double> unseen = {};
};

}  // namespace hypermile
