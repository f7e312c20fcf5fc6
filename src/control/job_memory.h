// SPDX-License-Identifier: Apache-2.0
//
// Joins a Controller and the memory of earlier runs (job_cache.h): makes the policies of the job's
// phases with what is remembered of them, and keeps what came of the run.
//
//   JobMemory memory(cache, {"hypermile", knobs, objective});
//   Controller controller({.port = port, .make_policy = memory.maker()}, options);
//   … session.run(ended); …
//   memory.keep(controller.summary(), clock.unix_time());
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "control/control_summary.h"
#include "control/controller_options.h"
#include "control/job_cache.h"

namespace hypermile {

class JobMemory {
 public:
  struct Terms {
    std::string policy = "hypermile";
    std::vector<Knob> knobs = {};
    Objective objective = {};
  };

  // `cache` must outlive it.
  JobMemory(JobCache& cache, Terms terms) : cache_(cache), terms_(std::move(terms)) {}

  using Maker = decltype(ControllerParts::make_policy);
  // For ControllerParts; `then` makes the policy from the context that knows what is remembered,
  // and is make_policy() where it is empty. This must outlive the Controller.
  Maker maker(Maker then = {});

  // Remembers what the run held, forgets what was remembered and did not hold. The first failure,
  // for one line: the run itself is over and well.
  Result<void> keep(const ControlSummary& summary, double unix_time);

  std::size_t recalled() const { return recalled_; }  // phases that began with something remembered

 private:
  struct Met {
    JobTerms terms;
    JobFingerprint fingerprint;
    Seconds typical;
    bool recalled = false;
  };
  using Key = std::pair<std::int64_t, std::uint32_t>;  // process and phase

  void recall(const PhaseFacts& facts, PolicyContext& context);
  Result<void> keep(const Met& met, const PhaseControl& phase, double unix_time);

  JobCache& cache_;
  Terms terms_;
  std::map<Key, Met> met_;
  std::size_t recalled_ = 0;
};

}  // namespace hypermile
