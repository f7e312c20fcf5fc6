// SPDX-License-Identifier: Apache-2.0
//
// How much must be seen before a pattern is believed. The poorer the likeness of its iterations,
// the more of them, the longer, and the more analyses must agree.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/units.h"

namespace hypermile {

struct Evidence {
  double quality = 0;
  std::uint64_t segments = 0;
  Seconds lasting;
  unsigned agreeing = 0;        // analyses after the first that found the same
  std::uint64_t explained = 0;  // launches from the first boundary to now
  std::uint64_t searched = 0;   // launches since the search began
  Seconds searching;            // time since the search began
  std::size_t gaps = 0;
  double gap_cv = 0;
  double launches = 0;       // in one iteration
  double waits = 1;          // share of the time in the two longest pauses of each iteration
  std::size_t distinct = 0;  // kernels in one iteration
};

enum class Verdict {
  kNotYet,
  kAnalyse,  // all but another analysis that agrees
  kBelieved,
};

Verdict judge(const Evidence& evidence);

}  // namespace hypermile
