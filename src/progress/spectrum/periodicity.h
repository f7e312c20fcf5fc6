// SPDX-License-Identifier: Apache-2.0
//
// Whether an evenly sampled series repeats, and how long one repetition takes: from its
// autocorrelation, which forgives iterations that differ in length where a sharp line of the
// spectrum would blur. Used by the spectral detector on power and utilisation alike.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace hypermile {

struct Periodicity {
  double period = 0;    // samples
  double strength = 0;  // 0..1: autocorrelation one period on
};

class Repetition {
 public:
  // Slow drift (a straight line) is taken out.
  explicit Repetition(std::span<const double> series);

  // The shortest period that explains the series about as well as any, from `shortest` samples to a
  // third of the series, refined over many periods. nullopt where none stands out.
  std::optional<Periodicity> find(double shortest) const;

  // Autocorrelation `period` samples on: the best within `slack` (relative) of it.
  double strength(double period, double slack) const;
  // Root of the mean square of the Fourier component at `period` and at its harmonics up to
  // `harmonics`, over stretches of a few periods, so that it need not keep in step for long.
  double amplitude(double period, int harmonics) const;
  // Share of the variance that those components hold.
  double explained(double period, int harmonics) const;

 private:
  double at(double lag) const;
  double best_lag(double from, double to) const;
  double refined(double period) const;
  // Mean of few periods that differ: each is found where it looks most like the first.
  std::optional<double> tracked(double period) const;

  std::vector<double> series_;
  std::vector<double> correlation_;
};

}  // namespace hypermile
