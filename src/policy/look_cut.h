// SPDX-License-Identifier: Apache-2.0
//
// When a look at a Setting that is plainly too slow ends before its Window is full.
#pragma once

#include <cmath>

#include "policy/job_ledger.h"
#include "policy/policy.h"

namespace hypermile {

// Relative; what a mean over the first few iterations of a look may exceed the truth by.
inline double cut_spread(const SearchConstants& search, const JobLedger& ledger) {
  return search.plainly * ledger.time_noise() *
         std::sqrt(ledger.window_iterations() / search.cut_iterations);
}

// `slowest`: time per iteration that may still be kept, relative to the default.
inline void cut_when_slow(Step& look, const SearchConstants& search, const JobLedger& ledger,
                          double slowest) {
  look.abort_after = search.cut_iterations;
  look.abort_above = ledger.default_time() * slowest;
  look.abort_spread = ledger.default_time() * cut_spread(search, ledger);
}

}  // namespace hypermile
