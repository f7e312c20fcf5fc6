// SPDX-License-Identifier: Apache-2.0
//
// What is believed of time and power at every Setting, relative to the default, from what was
// measured at some of them. Time and power are each a Gaussian process of x = ln(default / knob):
// a line from the default whose slope may change along the knob (an integrated Wiener process), so
// that a plateau under a board limit and then a rise is as natural as a straight line. Knobs add
// up; each memory clock may bend the SM curve. Every Setting may deviate from the smooth curve by
// a little of its own, and by more where the measurements say so.
//
// Pure arithmetic; a policy owns one and fits it before every decision.
#pragma once

#include <Eigen/Dense>
#include <optional>
#include <span>
#include <vector>

#include "gpu/setting.h"
#include "policy/job_ledger.h"
#include "policy/policy.h"

namespace hypermile {

class Random;

// Prior of one quantity (ln time or ln power) along one knob.
struct KnobPrior {
  double slope = 0;     // d ln quantity / d x at the default: mean
  double slope_sd = 0;  // and standard deviation
  double bend = 0;      // scale of the integrated Wiener process: how fast the slope may change
};

// What is believed of jobs in general before the first window.
struct ResponsePrior {
  KnobPrior sm_time, sm_power;
  KnobPrior limit_time, limit_power;
  KnobPrior memory_time, memory_power;
  double twist_time = 0, twist_power = 0;  // how much a memory clock changes the slope along SM
  // Correlation of the slopes of time along the SM and the memory clock: a job that waits for the
  // one does not wait for the other.
  double either_or = 0;
};
// Broad enough for every measured family: docs/design/algorithm.md says what fixes each number.
const ResponsePrior& usual_prior();

// Of one Setting, relative to the default: mean and standard deviation of ln.
struct Belief {
  double log_time = 0;
  double time_sd = 0;
  double log_power = 0;
  double power_sd = 0;
  // Least ln time that is possible: no Setting is faster than one that was measured with every knob
  // at least as high.
  double least_time = 0;
};

class Response {
 public:
  Response(const PolicyContext& context, const ResponsePrior& prior);

  // A predictor's word on every Setting takes the place of the prior's mean and width; how the
  // curves may bend between Settings stays. Ignored unless there is one for each Setting.
  void expect(std::span<const PredictedRatio> ratios);
  // An earlier run's word on one Setting counts as a measurement with an error of its own.
  void recall(const Remembered& remembered) { remembered_ = remembered; }

  // Believes what the ledger has seen.
  void fit(const JobLedger& ledger);
  const Belief& at(std::size_t setting) const { return beliefs_[setting]; }
  std::size_t size() const { return beliefs_.size(); }
  // One plausible job before anything is measured: ln time and ln power at every Setting.
  std::vector<Belief> draw(Random& random) const;

  // ln(default / knob) of a Setting.
  struct Place {
    double sm = 0;
    double memory = 0;
    double limit = 0;
  };
  const Place& place(std::size_t setting) const { return places_[setting]; }
  // Whether a Setting asks for nothing that the default does not reach anyway.
  bool is_default(std::size_t setting) const {
    const Place& at = places_[setting];
    return at.sm == 0 && at.memory == 0 && at.limit == 0;
  }

 private:
  struct Quantity {
    KnobPrior sm, limit, memory;
    double twist = 0;
    double either_or = 0;
    // Where a predictor was asked: its mean, and its width over the prior's own. Empty: nobody was.
    std::vector<double> predicted = {};
    std::vector<double> width = {};
  };
  double prior_mean(const Quantity& quantity, std::size_t setting) const;
  double covariance(const Quantity& quantity, std::size_t a, std::size_t b) const;
  struct Seen {
    std::vector<std::size_t> settings;  // [0] is the default
    std::vector<double> values;
    std::vector<double> variances;
  };
  struct Curve {
    std::vector<double> mean, sd;
  };
  Curve solve(const Quantity& quantity, const Seen& seen) const;
  Eigen::VectorXd draw(const Quantity& quantity, Random& random) const;
  void keep_physical(std::vector<Belief>& beliefs) const;
  void keep_monotone(const Seen& time, const Curve& times);

  std::vector<Place> places_;
  std::optional<Remembered> remembered_;
  Quantity time_, power_;
  std::vector<Belief> beliefs_;
};

}  // namespace hypermile
