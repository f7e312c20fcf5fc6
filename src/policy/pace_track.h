// SPDX-License-Identifier: Apache-2.0
//
// How one quantity of the job (ln of time per iteration, or ln of power) stands at the default now,
// and how far off it is at every other Setting. The job's own level wanders: slow minutes, heat,
// other work on the machine. A window shows level plus offset of its Setting, so windows at any
// Setting tell how the level moves, and only a change of Setting tells an offset. Heat may move an
// offset too, more slowly. JobLedger keeps one track for time and one for power.
//
// Each track is a bank of Kalman filters, one for every rate of wandering that is thought possible,
// without sudden jumps, with jumps of the level (a minute in which others use the machine) and with
// jumps of an offset (a setting at which the job stumbles); the likeliest of them answers. Pure
// arithmetic: nothing here can fail.
//
// Positions and lengths are counted in full windows of iterations since the job began.
#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <optional>
#include <vector>

#include "policy/policy.h"

namespace hypermile {

class PaceTrack {
 public:
  // `wanders`: whether level and offsets may move at all.
  explicit PaceTrack(bool wanders = true);

  // A window at a Setting (0 is the default) whose middle is at a position. `noise` is the standard
  // deviation of one full window. Windows before the first at the default are ignored. `expected`
  // is used with the first window at a Setting alone: where that window is faster than expected,
  // the job itself may have become faster.
  void add(std::size_t setting, double at, double windows, double value, double noise,
           const std::optional<ExpectedLook>& expected = {});
  // So many iterations ran at a Setting that add() has seen: counts what they lost.
  void ran(std::size_t setting, double iterations);
  // A Setting is no longer offered; those after it move up by one. What it lost stays lost.
  void forget(std::size_t setting);

  bool empty() const { return best().state.size() == 0; }
  double level() const;  // of the default, now; 0 where it was never seen
  // Of a Setting relative to the default; nullopt where it was not seen.
  std::optional<double> offset(std::size_t setting) const;

  // What ran() has counted, in iterations at the default.
  double lost() const;
  // Variance of what the job will have lost after so many `future` iterations off the default, at
  // offsets that are as sure as the level is now; 0: of lost().
  double variance(double future = 0) const;
  // The same after further windows at the default, each between windows at other Settings.
  double variance_after(double windows, double noise, double future) const;

 private:
  enum class Jump { kHolds, kLevelJumps, kOffsetJumps };
  // State: level, what was lost, then the offset of each Setting in `settings_`.
  struct Filter {
    double level_rate = 0;   // variance that the level gains in one full window
    double offset_rate = 0;  // and an offset
    Jump jump = Jump::kHolds;
    double handicap = 0;  // in log likelihood
    double likelihood = 0;
    Eigen::VectorXd state = {};
    Eigen::MatrixXd covariance = {};
  };
  // What one window shows: which part of the state, how large it was and how sure.
  struct Sight {
    Eigen::Index row = 0;  // the level alone, or the level and the offset in this row
    double value = 0;
    double variance = 0;
    double jumped = 0;   // probability of a jump since the window before
    bool first = false;  // the first at its Setting, whose offset has had no time to jump
  };
  static void see(Filter& filter, const Sight& sight);
  // Before the first window at the Setting of this row.
  void expect(Eigen::Index row, double value, const ExpectedLook& expected);
  const Filter& best() const { return filters_[best_]; }
  std::optional<Eigen::Index> row_of(std::size_t setting) const;
  Eigen::Index row_for(std::size_t setting);

  std::vector<Filter> filters_;
  std::size_t best_ = 0;
  std::vector<std::size_t> settings_;
  double at_ = 0;
};

}  // namespace hypermile
