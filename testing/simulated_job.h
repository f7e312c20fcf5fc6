// SPDX-License-Identifier: Apache-2.0
//
// For tests: a job on the simulated RTX 3080 Ti with iterations of about 100 ms and a checkpoint of
// 3 s every 97 iterations.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "trial/simulated_job.h"

namespace hypermile {

inline constexpr Effects kNoEffects = {0, 0, 0, 0};

inline SimulatedJob job_for_test(std::uint64_t iterations, const Effects& effects = kNoEffects) {
  // Data files come from the source tree, whatever is installed.
  if (const char* source = std::getenv("HYPERMILE_SOURCE_DIR")) {
    ::setenv("HYPERMILE_DATA", source, 1);
  }
  SimulatedJob job;
  auto sheet = load_gpu_sheet("rtx3080ti");
  EXPECT_TRUE(sheet.ok()) << sheet.error().line();
  job.sheet = std::move(*sheet);
  auto workload = parse_workload(R"(
title = "test"
family = "test"
[[phase]]
name = "train"
[[phase.part]]
name = "compute"
gflop = { fp32 = 1200.0 }
gbyte = 5.0
compute_efficiency = 0.7
[[phase.part]]
name = "stream"
gbyte = 30.0
memory_efficiency = 0.8
[[phase]]
name = "checkpoint"
every = 97
[[phase.part]]
name = "save"
data_stall_ms = 3000.0
)",
                                 "test.toml");
  EXPECT_TRUE(workload.ok()) << workload.error().line();
  job.workload = std::move(*workload);
  job.iterations = iterations;
  job.effects = effects;
  return job;
}

}  // namespace hypermile
