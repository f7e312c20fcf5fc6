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

#include <cmath>
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
#include "policy/search_constants.h"

namespace hypermile {

class JobLedger;
struct ResponsePrior;

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
  bool steady = false;  // one Setting is kept: the job's time is not shared between two
  double window_iterations = 30;
  double settle_iterations = 5;  // run but not measured after a change of Setting
  // The default's own values where known: the mean SM clock seen there, its memory clock, its
  // limit.
  Setting default_values;
  // The card's name, where it is known.
  std::string gpu = {};
  // Whether Windows come with a trace where a Step asks for one (Step::trace_for).
  bool traces = false;
  // A model, asked once the default is measured. Empty: nobody predicts.
  PredictRatios predict = {};
  // Says where to look first, never what to believe: the policy "hypermile" measures it before it
  // keeps it.
  std::optional<Remembered> remembered = {};
  // What the policy "hypermile" decides by and believes of jobs in general, nullptr being the usual
  // prior. An ablation turns parts of the search off with them.
  SearchConstants search = {};
  const ResponsePrior* prior = nullptr;
  // The true best Setting, known only to a judge; the "oracle" policy goes there.
  std::optional<std::size_t> oracle;
  std::uint64_t seed = 1;
};

// A Setting, by index, and the share of iterations that it gets.
struct StepShare {
  std::size_t setting = 0;
  double share = 1;
};

// What a look is expected to show: mean and standard deviation of ln of its time per iteration,
// relative to the default.
struct ExpectedLook {
  double log_time = 0;
  double sd = 0;
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
  // By how much more time per iteration must exceed that after `abort_after` iterations, for the
  // scatter of single ones; it narrows as they become more.
  Seconds abort_spread = {};
  // Whether a mean time per iteration over `passed` iterations is plainly too slow.
  bool aborts(double passed, Seconds mean) const {
    return abort_above && passed >= abort_after &&
           mean > *abort_above + abort_spread * std::sqrt(abort_after / passed);
  }
  // Run for this long instead of `iterations`, and give the Window a trace
  // (measure/sensor_trace.h).
  std::optional<Seconds> trace_for = {};
  bool features = false;    // the Window is to have features, counters among them
  double confidence = 1;    // that this Setting is within the bound, 0..1
  std::string reason = {};  // for people: why this Setting now
  // Where the job's time is shared between Settings: what each has had since the first was held.
  // Empty: `setting` alone is kept.
  std::vector<StepShare> shares = {};
  std::optional<ExpectedLook> expected = {};  // of a look; nullopt where nothing is expected
  // Passes unmeasured once the Setting is in force here, because other nodes of the job may be a
  // moment later with it.
  Seconds settle = Seconds(0);
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

class Policy {
 public:
  virtual ~Policy() = default;

  virtual Step next() = 0;
  // The last Step no longer counts, measured or not: whoever runs it asks for the next one at once.
  // Only a policy that takes its Steps from elsewhere (nodes/joint_policy.h) does so.
  virtual bool withdrawn() const { return false; }
  // What the last Step was decided on, for people who want to hold it against what was measured.
  // Empty where the policy expects nothing in particular.
  virtual std::vector<ExpectedOutcome> expected() const { return {}; }
  // What became of the last Step. Window.setting is the Setting asked for.
  virtual void observe(const Window& window) = 0;
  // Comes before each next(), from whoever keeps the job's ledger, which outlives the policy.
  virtual void account(const JobLedger& ledger) { (void)ledger; }
};

// "hypermile", "gpoeo", "fixed:sm=1200", …: see policies.h for the table.
using PolicyMaker = std::unique_ptr<Policy> (*)(const PolicyContext& context);

}  // namespace hypermile
