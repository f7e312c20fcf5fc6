// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a cache of jobs: an Error, or jobs that make sense and come back unchanged when they
// are written and read again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "control/job_cache_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hypermile;
  const auto jobs = read_cache(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!jobs) return 0;
  if (jobs->size() > kMostCachedJobs) std::abort();
  for (const CachedJob& job : *jobs) {
    if (job.kept.empty() || !(job.time_ratio > 0) || !(job.default_time > Seconds(0))) std::abort();
    if (likeness(job.fingerprint, job.fingerprint) < 0.999 && !job.fingerprint.kernels.empty()) {
      std::abort();
    }
  }
  const std::string written = write_cache(*jobs);
  const auto again = read_cache(written);
  if (!again || again->size() != jobs->size() || write_cache(*again) != written) std::abort();
  return 0;
}
