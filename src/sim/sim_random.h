// SPDX-License-Identifier: Apache-2.0
//
// The simulator's random numbers: SplitMix64, whose eight bytes of state can lie in shared memory
// and be copied. Other code uses the larger generator of base/random.h.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace hypermile {

struct SimRandom {
  std::uint64_t state = 1;

  std::uint64_t bits() {
    state += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  // In [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // Mean 0, standard deviation 1 (Box-Muller, one of the pair).
  double gaussian() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }
};

}  // namespace hypermile
