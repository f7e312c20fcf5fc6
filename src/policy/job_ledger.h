// SPDX-License-Identifier: Apache-2.0
//
// Everything that is known of a job's pace and cost, and the only place that works it out: how fast
// the job runs at the default now and at any time before, how much time it has lost off the
// default, how surely, how noisy one window is, and what each Setting has cost relative to the
// default of its own time. The promise of a bound is about the whole job: elapsed time is known
// exactly, so the only doubt is how fast the default would have been.
//
// The Controller (or a judge) reports windows and passing time; policies read. Windows that cannot
// be used are ignored. Nothing here fails.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "measure/window.h"
#include "policy/pace_track.h"
#include "policy/policy.h"

namespace hypermile {

// What the windows of one Setting say, relative to the default.
struct SeenSetting {
  std::size_t setting = 0;
  double windows = 0;  // full windows
  double log_time = 0;
  double log_power = 0;
};

class JobLedger {
 public:
  // `window_iterations`: the length of a full window; Settings are indices below `settings`, and 0
  // is the default. `wanders`: whether the job's pace may move; an ablation takes it as constant.
  JobLedger(std::size_t settings, double window_iterations, bool wanders = true);

  // Iterations that passed, measured or not, in order of time.
  void pass(bool off_default, double iterations, Seconds took);
  // A window at a Setting, over iterations that pass() has reported. A window that heat held back
  // counts, since its figures are true of its time; other unusable windows are ignored.
  // `expected` is what the other Settings let the first Window at this one show: PaceTrack::add.
  void add(std::size_t setting, const Window& window,
           const std::optional<ExpectedLook>& expected = {});

  // The job's length in iterations, known or assumed, and how much of that is sure to come; both
  // at least what is done. Whoever reports says so before each decision.
  void set_job(double iterations, double sure);
  double job() const { return std::max(job_, done_); }
  double sure_job() const { return std::max(sure_job_, done_); }

  // The job is another from here on: what was lost stays lost, what was measured is forgotten.
  void begin_anew();
  // A Setting is no longer offered; those after it move up by one.
  void forget(std::size_t setting);

  // Full windows that passed since the default was seen last.
  double since_default() const;

  bool knows_default() const { return !time_.empty(); }
  double done() const { return done_; }           // iterations
  double off() const { return off_; }             // of them, off the default
  Seconds off_time() const { return off_time_; }  // that these took
  double window_iterations() const { return window_iterations_; }
  Seconds default_time() const;  // per iteration, now
  Watts default_power() const;   // now
  // Full windows seen.
  double default_windows() const { return windows_at(0); }
  double windows_at(std::size_t setting) const {
    return setting < windows_.size() ? windows_[setting] : 0;
  }

  // Time lost so far, in iterations at the default; negative where the job was faster off it.
  double lost() const;
  double lost_error() const;  // standard error of lost()
  // Relative standard error of the default's mean pace over the job, now or after `more` full
  // windows at the default.
  double pace_error(double more = 0) const;

  // Standard deviation of ln of one full window, at one Setting.
  double time_noise() const { return noise_[0]; }
  double power_noise() const { return noise_[1]; }

  // ln of time per iteration at a Setting, relative to the default of its time; nullopt where it
  // was not measured.
  std::optional<double> log_time_of(std::size_t setting) const;
  // Time per iteration and power to expect at a Setting, by the level that the default had when it
  // was seen last: what has moved since is a change. nullopt where it was not measured.
  std::optional<std::pair<Seconds, Watts>> expected(std::size_t setting) const;
  // Every Setting off the default that was measured, in order of index.
  std::vector<SeenSetting> seen() const;

 private:
  struct Last {
    double windows = 0;
    double log_time = 0;
    double log_power = 0;
  };
  void compare(const Last& last, const Last& now);
  void estimate_noise(const Window& window, double windows);
  void count_loss(std::size_t setting, const Window& window);

  std::size_t settings_;
  double window_iterations_;
  bool wanders_;
  double done_ = 0, off_ = 0;
  Seconds off_time_ = Seconds(0);
  double lost_before_ = 0;   // by earlier selves of the job, in iterations
  double doubt_before_ = 0;  // variance of that
  double job_ = 0, sure_job_ = 0;
  double default_until_ = 0;  // iterations done when the default was seen last
  // Off the default: what passed since the last window, and what passed without one.
  double open_iterations_ = 0, open_seconds_ = 0;
  double lost_unmeasured_ = 0;
  PaceTrack time_{wanders_}, power_{wanders_};
  double default_then_[2] = {0, 0};  // ln of time and power, when the default was seen last
  std::vector<double> windows_;      // full windows seen, by Setting
  struct Neighbour {
    std::size_t setting = 0;
    Last window = {};
  };
  std::optional<Neighbour> neighbour_;  // the last window, while its Setting stays
  std::deque<double> squares_[2];       // of differences of neighbours, for full windows
  double claimed_[2] = {0, 0};  // sums of the windows' own errors, squared, for full windows
  double claims_[2] = {0, 0};
  double noise_[2] = {0.01, 0.01};
};

}  // namespace hypermile
