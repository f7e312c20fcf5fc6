// SPDX-License-Identifier: Apache-2.0
//
// How one quantity of the job at the default (ln of time per iteration, or ln of power) moves while
// the job runs. It is seen only during stays at the default and wanders slowly between them: a
// random walk, whose rate is estimated from the stays themselves. JobLedger keeps one for time and
// one for power. Pure arithmetic: nothing here can fail.
//
// Positions are counted in full windows of iterations since the job began.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hypermile {

class LevelTrack {
 public:
  // One window at the default. `fresh`: something else ran since the last one.
  void add(double at, double windows, double value, bool fresh);

  bool empty() const { return stays_.empty(); }
  std::size_t stays() const { return stays_.size(); }
  // Full windows seen at the default.
  double windows() const;
  // Squared deviations of windows from the mean of their stay, and their degrees of freedom.
  double squares() const { return squares_; }
  double freedom() const { return freedom_; }

  // Estimates the walk again, for windows with this standard deviation. Call after add().
  void solve(double noise);
  // Mean level at a position, by all stays. 0 before the first.
  double at(double position) const;
  double now() const { return levels_.empty() ? 0 : levels_.back(); }

  // Variance of the mean of the level over the job, where stretch k (between stay k-1 and stay k;
  // one more than stays) weighs `weights[k]`. With `more` windows at the default added at `at`, as
  // part of the last stay unless `fresh`.
  double variance_of_mean(std::span<const double> weights, double more, double at,
                          bool fresh) const;

  // Halves the number of stays, neighbours together. The owner merges its stretches likewise.
  void thin_out();

 private:
  struct Stay {
    double at = 0;
    double windows = 0;
    double value = 0;
  };
  double likelihood(double wander) const;

  std::vector<Stay> stays_;
  std::vector<double> levels_;
  double squares_ = 0;
  double freedom_ = 0;
  double noise_ = 0.01;
  double wander_ = 0;  // variance that the walk gains in one full window
};

}  // namespace hypermile
