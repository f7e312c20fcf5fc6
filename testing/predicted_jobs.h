// SPDX-License-Identifier: Apache-2.0
//
// Made-up jobs whose curves follow from their features by a rule that predictors must find: the
// busier a job's pipes are compared with its memory, the more it depends on the core clock.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "predict/examples.h"

namespace hypermile {

inline Example job_for_test(const std::string& workload, double core, double dram,
                            const std::string& gpu = "card") {
  Example example{"test/data.csv", {gpu, workload, "", ""}, workload_group(workload), {}, {}};
  example.features.set(Feature::kFp32Active, core);
  example.features.set(Feature::kDramActive, dram);
  const double share = core / (core + dram);
  for (const double s : {0.95, 0.9, 0.8, 0.7, 0.6, 0.5}) {
    const double time = 1 + share * (1 / s - 1);
    const double power = 0.4 + 0.6 * s * s;
    example.points.push_back({{s, 1, {}}, time, time * power});
  }
  return example;
}

inline std::vector<Example> jobs_for_test(std::size_t count, const std::string& gpu = "card") {
  Random random(7);
  std::vector<Example> jobs;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = "job_" + std::string(1, static_cast<char>('a' + i % 26)) +
                             std::string(1, static_cast<char>('a' + i / 26));
    jobs.push_back(job_for_test(name, random.uniform(0.05, 0.9), random.uniform(0.05, 0.9), gpu));
  }
  return jobs;
}

}  // namespace hypermile
