// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that repeat: one seed gives the same numbers with every compiler and standard
// library, which the distributions of <random> do not promise. Each thread needs its own Random.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace hypermile {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits() { return engine_(); }
  // Uniform in [0, 1).
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // Mean 0, standard deviation 1. Box-Muller makes pairs; only one of each pair is used.
  double gaussian() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  std::mt19937_64 engine_;
};

// The seed of one of many independent streams, made from a common seed and the stream's name.
std::uint64_t derive_seed(std::uint64_t seed, const char* name);

}  // namespace hypermile
