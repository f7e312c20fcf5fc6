// SPDX-License-Identifier: Apache-2.0
//
// A Policy decides which Setting comes next. It sees Windows and a list of Settings and nothing
// else of the world: no GPU, no simulator, no clock. Whoever runs it (the Controller on a living
// job, the judge on measured curves) alternates next() and observe() until the job ends; running at
// the Setting kept is a Window like any other, so a policy may go on learning for as long as the
// job lasts.
//
// Same context, same Windows: same Steps. Nothing here throws or crashes on bad Windows (unusable,
// contradictory, absurd): such input leads towards the default Setting.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gpu/setting.h"
#include "measure/window.h"
#include "policy/objective.h"

namespace hypermile {

// What an earlier run of the same job came to keep, and what it measured there against the default.
struct Remembered {
  std::size_t setting = 0;  // an index; not the default
  double time_ratio = 1;
  double power_ratio = 1;
};

// A predictor's word on one Setting, relative to the default: mean and standard deviation of ln.
struct PredictedRatio {
  double log_time = 0;
  double time_sd = 0;
  double log_energy = 0;
  double energy_sd = 0;
};
// From a Window at the default: one for each of the context's Settings, the default's own among
// them; empty where the predictor knows nothing of this job.
using PredictRatios = std::function<std::vector<PredictedRatio>(const Window& baseline)>;

// The Setting of least predicted score within the bound; the default where none is better.
std::size_t predicted_best(std::span<const PredictedRatio> ratios, const Objective& objective,
                           Watts default_power);

// What is known before the first Window.
struct PolicyContext {
  // [0] is the driver's default (empty). Only these are ever asked for. In a curve's order:
  // descending memory clock, SM clock, limit.
  std::vector<Setting> settings;
  Objective objective;
  std::optional<double> job_iterations;  // length of the job where the user told it
  // Where not: it will run as long again as it has run, and at least this long altogether.
  double least_job_iterations = 2000;
  double window_iterations = 30;
  double settle_iterations = 5;  // run but not measured after a change of Setting
  // The default's own values where known: the mean SM clock seen there, its memory clock, its
  // limit.
  Setting default_values;
  // A predictor's guess of the best Setting (an index), for policies that start from one.
  std::optional<std::size_t> predicted;
  // Asked once the default is measured; where it answers, in place of `predicted`. Empty: nobody.
  PredictRatios predict = {};
  // Says where to look first, never what to believe: the policy "hypermile" measures it before it
  // keeps it.
  std::optional<Remembered> remembered = {};
  // After so many iterations the job's own speed may be another, so that a Setting near the bound
  // is no longer known by a baseline that old. Absent: unknown, windows are counted instead.
  std::optional<double> drift_iterations = {};
  // The true best Setting, known only to a judge; the "oracle" policy goes there.
  std::optional<std::size_t> oracle;
  // A GPU's name whose family must not inform the prior, for a judge that replays measurements the
  // prior was fitted to. Empty on a living GPU: nothing is left out.
  std::string prior_without = {};
  std::uint64_t seed = 1;
};

// Run `iterations` at settings[setting], measure them as one Window, report it to observe().
struct Step {
  std::size_t setting = 0;
  double iterations = 30;
  bool exploring = false;  // a probe, a baseline included; false while holding the Setting kept
  // Cut the Window short once the mean time per iteration so far exceeds this, checked from
  // `abort_after` iterations on. nullopt: run it to the end.
  std::optional<Seconds> abort_above = {};
  double abort_after = 8;
  double confidence = 1;    // that this Setting is within the bound, 0..1
  std::string reason = {};  // for people: why this Setting now
};

// What a policy expects of a Setting, relative to the default; the score is the objective's.
struct ExpectedOutcome {
  std::size_t setting = 0;
  double slowdown = 0;
  double slowdown_sd = 0;
  double score = 1;
  double score_sd = 0;
  double safe = 1;  // probability of keeping the bound
};

// What the whole job has lost of its time so far, by the clock, against iterations at the default.
struct JobLoss {
  double job = 0;   // iterations, known or assumed, those before this policy included
  double done = 0;  // of them; most pass while a Setting is held and nothing is measured
  double lost = 0;  // time lost so far, in iterations at the default; an upper bound
};

class Policy {
 public:
  virtual ~Policy() = default;

  virtual Step next() = 0;
  // What the last Step was decided on, for people who want to hold it against what was measured.
  // Empty where the policy expects nothing in particular.
  virtual std::vector<ExpectedOutcome> expected() const { return {}; }
  // What became of the last Step. Window.setting is the Setting asked for.
  virtual void observe(const Window& window) = 0;
  // Before next(), from somebody who keeps the job's account. What the policy itself takes for lost
  // is not needed then.
  virtual void account(const JobLoss& loss) { (void)loss; }
  // A usable Window at the default that came in place of the last Step. True: it is taken, the Step
  // is void, and next() is to be asked again. False: nothing is made of it, and the Step stands.
  virtual bool take_default(const Window& window) {
    (void)window;
    return false;
  }
};

// "hypermile", "gpoeo", "fixed:sm=1200", …: see policies.h for the table.
using PolicyMaker = std::unique_ptr<Policy> (*)(const PolicyContext& context);

}  // namespace hypermile
