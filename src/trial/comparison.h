// SPDX-License-Identifier: Apache-2.0
//
// Several policies on several simulated jobs, each beside a default run of the same job with the
// same seed. Jobs run on all cores; the result and the log do not depend on how many there are.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "trial/run_report.h"
#include "trial/simulated_run.h"

namespace hypermile {

struct Comparison {
  std::vector<SimulatedOutcome> outcomes;  // jobs in order, for each the policies in order
  std::string log;                         // the event log of all runs, where it is wanted
  std::size_t cut_off = 0;  // runs that an interruption ended or prevented; they are not compared
};

struct ComparisonOptions {
  bool keep_log = false;
  unsigned threads = 0;  // 0: one per core
  // Called from the thread that calls compare() only when there is one thread.
  WindowListener listener = {};
};

// The first error in order, if any run has one. A default run is made for each job and logged
// first, whether or not `policies` contains it.
Result<Comparison> compare(std::span<const SimulatedJob> jobs,
                           std::span<const std::string> policies, const ComparisonOptions& options,
                           std::stop_token stop = {});

}  // namespace hypermile
