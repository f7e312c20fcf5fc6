// SPDX-License-Identifier: Apache-2.0
//
// Golden section over an interval of whole steps (gears, rungs): of two inner points the side of
// the worse one is cut off, and the other serves again, so that each cut costs one probe. Used by
// the searches that were published with it (DEPO, GPOEO), and where there is no slowdown to bisect
// on.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

namespace hypermile {

struct GoldenInterval {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t narrow = 1;  // stop when high - low is no more than this
  int most_probes = 64;     // or when the next cut would need more than this
};

// `probe(step)` gives an optional value, nullopt when it cannot be had now; `better(a, b)` compares
// two values. Returns false as soon as a probe gives nullopt, true at the end; what was best is
// known to whoever probed. Probes lie strictly inside the interval, except that its high end may be
// probed once nothing else is left to compare with. The interval shrinks with every cut.
template <class Probe, class Better>
bool golden_section(GoldenInterval interval, Probe&& probe, Better&& better) {
  constexpr double kShare = 0.381966;
  std::int64_t low = interval.low;
  std::int64_t high = interval.high;
  const auto draw = [&](std::int64_t& left, std::int64_t& right) {
    left = low + std::lround(kShare * static_cast<double>(high - low));
    right = high - (left - low);
    if (right <= left) right = left + 1;
  };
  std::int64_t left = 0;
  std::int64_t right = 0;
  draw(left, right);
  decltype(probe(left)) at_left;
  decltype(probe(right)) at_right;
  int probes = 0;
  while (high - low > interval.narrow) {
    probes += static_cast<int>(!at_left) + static_cast<int>(!at_right);
    if (probes > interval.most_probes) break;
    if (!at_left && !(at_left = probe(left))) return false;
    if (!at_right && !(at_right = probe(right))) return false;
    if (better(*at_left, *at_right)) {
      high = right == high ? high - 1 : right;
      right = left;
      at_right = std::exchange(at_left, std::nullopt);
      left = low + (high - right);
      if (low < left && left < right) continue;
    } else {
      low = left == low ? low + 1 : left;
      left = right;
      at_left = std::exchange(at_right, std::nullopt);
      right = high - (left - low);
      if (left < right && right < high) continue;
    }
    // Rounding has brought the mirrored point onto the other one or an end: draw both anew.
    at_left.reset();
    at_right.reset();
    draw(left, right);
  }
  return true;
}

}  // namespace hypermile
