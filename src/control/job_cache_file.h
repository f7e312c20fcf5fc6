// SPDX-License-Identifier: Apache-2.0
//
// What is remembered of jobs, and the text it is kept as (docs/design/policies.md). Anything may
// stand in such a file: what is read is checked as if a stranger had written it, and a file with
// one broken entry is broken.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "control/job_fingerprint.h"
#include "gpu/setting.h"
#include "policy/objective.h"

namespace hypermile {

// Under what a result was found: for anything else it means nothing.
struct JobTerms {
  std::vector<std::string> gpus;  // names, one for each GPU of the job, in order
  std::string driver;
  std::vector<Knob> knobs;
  Objective objective;
};
bool same_terms(const JobTerms& a, const JobTerms& b);

struct CachedJob {
  JobTerms terms;
  JobFingerprint fingerprint;
  Seconds default_time;   // per iteration
  Watts default_power;    // of all GPUs
  Setting kept;           // never the default
  double time_ratio = 1;  // there, against the default, as measured
  double power_ratio = 1;
  std::size_t probes = 0;  // that it took to find it
  double used = 0;         // Unix time of the last run that kept it
};

inline constexpr std::size_t kMostCachedJobs = 128;  // the one not used for longest gives way
inline constexpr std::size_t kMostCacheBytes = 4 << 20;

std::string write_cache(const std::vector<CachedJob>& jobs);
// kParse with what is wrong; `newer` versions too.
Result<std::vector<CachedJob>> read_cache(std::string_view text);

}  // namespace hypermile
