// SPDX-License-Identifier: Apache-2.0
//
// Decides whether a pattern is believed. The less alike its iterations are, the more iterations,
// time and agreeing analyses are needed. A pure function; the detector calls it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/units.h"

namespace hypermile {

struct Evidence {
  double quality = 0;
  std::uint64_t segments = 0;
  Seconds lasting;
  unsigned agreeing = 0;        // later analyses that found the same pattern
  std::uint64_t explained = 0;  // launches from the first boundary to now
  std::uint64_t searched = 0;   // launches since the search began
  Seconds searching;            // time since the search began
  std::size_t gaps = 0;
  double gap_cv = 0;
  double launches = 0;       // launches in one iteration
  double waits = 1;          // share of the time in the two longest pauses of each iteration
  std::size_t distinct = 0;  // different kernels in one iteration
  bool elastic = false;      // see Reference
  bool interrupted = false;  // see Analysis
};

enum class Verdict {
  kNotYet,
  kAnalyse,  // only another agreeing analysis is missing
  kBelieved,
};

Verdict judge(const Evidence& evidence);

}  // namespace hypermile
