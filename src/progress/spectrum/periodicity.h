// SPDX-License-Identifier: Apache-2.0
//
// Whether an evenly sampled series repeats, and with which period. Uses the autocorrelation, which
// tolerates iterations of different lengths where a line of the spectrum would blur. The spectral
// detector uses it on power and utilisation.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace hypermile {

struct Periodicity {
  double period = 0;    // in samples
  double strength = 0;  // 0..1: autocorrelation at a lag of one period
};

class Repetition {
 public:
  // Removes slow drift (a straight line).
  explicit Repetition(std::span<const double> series);

  // The shortest period that explains the series about as well as any other, between `shortest`
  // samples and a third of the series, refined over many periods. nullopt if none stands out.
  std::optional<Periodicity> find(double shortest) const;

  // The best autocorrelation at a lag within `slack` (relative) of `period` samples.
  double strength(double period, double slack) const;
  // Root mean square of the Fourier component at `period` and its harmonics up to `harmonics`. It
  // is taken over stretches of a few periods, so the phase need not stay fixed for long.
  double amplitude(double period, int harmonics) const;
  // Share of the variance that these components explain.
  double explained(double period, int harmonics) const;

 private:
  double at(double lag) const;
  double best_lag(double from, double to) const;
  double refined(double period) const;
  // Mean of a few periods of different lengths: each is found where it looks most like the first.
  std::optional<double> tracked(double period) const;

  std::vector<double> series_;
  std::vector<double> correlation_;
};

}  // namespace hypermile
