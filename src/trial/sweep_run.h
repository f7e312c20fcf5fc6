// SPDX-License-Identifier: Apache-2.0
//
// A sweep in virtual time, over a simulated card and job or a measured curve: each window of the
// plan is a run of the job on the virtual rig, with noise of its own. So a step depends on nothing
// but its number, and a sweep that was killed anywhere and begun again leaves the same file as one
// that was not. `sweep --gpu sim:NAME` and `sweep --gpu replay:FILE#…` call it.
#pragma once

#include <functional>
#include <stop_token>

#include "trial/simulated_job.h"
#include "trial/sweeping/sweep_course.h"

namespace hypermile {

struct SweepHearers {
  std::function<void(const std::string&)> say;          // a window was given up
  std::function<void(const SweepProgress&)> show = {};  // after each window
};

// Measures what the journal lacks, until `stop`. Fails as the journal does; kNotReady where the job
// cannot be measured at all.
Result<void> sweep_simulated(const SimulatedJob& job, const SweepOptions& terms,
                             SweepJournal& journal, const SweepHearers& hearers,
                             const std::stop_token& stop = {});
Result<void> sweep_replayed(const Curve& curve, const SweepOptions& terms, SweepJournal& journal,
                            const SweepHearers& hearers, const std::stop_token& stop = {});

}  // namespace hypermile
