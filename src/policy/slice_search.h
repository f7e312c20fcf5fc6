// SPDX-License-Identifier: Apache-2.0
//
// Searches one slice: explores where the model says the constrained optimum probably is, settles
// where the bound is kept with high probability, and goes on measuring while it runs there, with
// windows at the default in between so that the job's drift does not pass for a slowdown.
#pragma once

#include <optional>

#include "policy/observations.h"
#include "policy/policy.h"
#include "policy/posterior.h"
#include "policy/slice_view.h"

namespace hypermile {

// Default windows worth their price over a job of that length: fewer leave a margin that costs more
// saving than they do.
double wanted_baselines(const PolicyContext& context, const Noise& noise, double job_length);

// Iterations after which a probe that is plainly too slow can be told from noise.
double iterations_until_cut(const PolicyContext& context, const Noise& noise);
// Has the probe cut short then, or after step.abort_after where that is more.
void cut_when_too_slow(Step& step, const PolicyContext& context, const Noise& noise,
                       Seconds default_time);

class SliceSearch {
 public:
  // `context` must outlive the search. With `recall` it looks at context.remembered first, and
  // explores nothing else where that holds.
  SliceSearch(const PolicyContext& context, Posterior posterior, const JobState& job,
              const Observations& seen, bool recall = false);

  // The next Step, or nullopt when this slice has nothing better than the default.
  std::optional<Step> next(const Observations& seen, const JobState& job);
  // Of the points that were worked out for it, the default first.
  std::vector<ExpectedOutcome> expected() const;
  // What was remembered does not hold here. next() has returned nullopt.
  bool refuted() const { return recall_ == Recall::kRefuted; }

 private:
  enum class Recall { kNothing, kLooking, kHolds, kRefuted };

  std::size_t choose(const SliceView& view, double safety) const;
  std::size_t settle(const SliceView& view) const;
  bool affordable(std::size_t point, std::size_t settled, const SliceView& view) const;
  std::size_t most_promising(const SliceView& view, std::size_t settled) const;
  std::optional<Step> explore(const SliceView& view, std::size_t settled,
                              const JobState& job) const;
  std::optional<Step> recall(const SliceView& view, const JobState& job);
  std::optional<Step> first_look(const SliceView& view, const JobState& job) const;
  std::optional<Step> go_lower(const SliceView& view, std::size_t settled, const JobState& job);
  bool may_be_innocent(const SliceView& view) const;
  bool baseline_is_old(const SliceView& view) const;
  bool must_move(const SliceView& view, std::size_t settled) const;
  Step probe(std::size_t point, const SliceView& view, const JobState& job, const char* why) const;
  Step baseline() const;
  Step hold(const SliceView& view) const;

  const PolicyContext& context_;
  Posterior posterior_;
  double first_baselines_;  // default windows before this search
  std::size_t explored_before_;
  std::size_t held_ = 0;  // point
  int bold_tries_ = 0;
  Recall recall_ = Recall::kNothing;
  std::vector<Belief> believed_;  // at the last Step
};

}  // namespace hypermile
