// SPDX-License-Identifier: Apache-2.0
//
// Shared by the simulator's tests: GPU sheets and workloads that must exist, and a card that
// behaves the same every time because nothing about it is random.
#pragma once

#include <gtest/gtest.h>

#include "sim/advance.h"
#include "sim/gpu_sheet.h"
#include "sim/workload.h"

namespace hypermile {

inline GpuSheet sheet_of(const char* key) {
  Result<GpuSheet> sheet = load_gpu_sheet(key);
  EXPECT_TRUE(sheet) << (sheet ? "" : sheet.error().line());
  return sheet ? *std::move(sheet) : GpuSheet();
}

inline Workload workload_of(const char* key) {
  Result<Workload> workload = load_workload(key);
  EXPECT_TRUE(workload) << (workload ? "" : workload.error().line());
  return workload ? *std::move(workload) : Workload();
}

// Turns off all effects that the models do not contain.
inline constexpr Effects kNoEffects = {0, 0, 0, 0};

// A card that matches its sheet, with exact sensors.
inline GpuConstants typical(GpuConstants gpu) {
  gpu.spread = CardSpread();
  gpu.sensors.gain_deviation = 0;
  gpu.sensors.offset_deviation = Watts(0);
  gpu.sensors.noise = 0;
  gpu.sensors.stale_share = 0;
  return gpu;
}

inline Load simple_load(double fp32_flops, double bytes, Seconds host = Seconds(0)) {
  Load load;
  load.phase_count = 1;
  load.phases[0].part_count = 1;
  PartWork& part = load.phases[0].parts[0];
  part.flops[static_cast<std::size_t>(Precision::kFp32)] = fp32_flops;
  part.bytes = bytes;
  part.host = host;
  return load;
}

// Runs a job from its start to `until` in one step.
inline SimGpuState run_job(const GpuConstants& gpu, const Load& load, double until,
                           const Effects& effects = kNoEffects, std::uint64_t seed = 1) {
  SimGpuState state = make_sim_gpu(gpu, seed, effects);
  start_job(state, gpu, load);
  advance(state, gpu, &load, Seconds(until));
  return state;
}

}  // namespace hypermile
