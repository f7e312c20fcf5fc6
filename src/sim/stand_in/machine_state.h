// SPDX-License-Identifier: Apache-2.0
//
// The layout of the stand-in's shared memory: for each GPU its constants, and two copies of its
// changing state. Plain data only. A change is made on the inactive copy and published by one
// store, so a process killed at any instant leaves the GPU as it was before or after the change.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "gpu/nvml/nvml_abi.h"
#include "sim/advance.h"
#include "sim/load.h"
#include "sim/sim_state.h"

namespace hypermile {

inline constexpr std::uint32_t kMostGpus = 16;
// Part of the file's identity: raise it when the meaning changes but the size does not.
inline constexpr std::uint32_t kMachineLayout = 3;

struct GpuFacts {
  char name[96];
  char uuid[48];
  char serial[32];
  std::uint32_t bus;  // PCI bus; domain and device are 0
  std::uint32_t pci_device_id;
  std::uint32_t architecture;  // NVML's number
  std::uint32_t cores;         // CUDA cores
  std::int32_t compute_major, compute_minor;
  std::uint64_t memory_bytes;
};

// A lock as the client requested it; a high of 0 means unlocked.
struct ClockLock {
  std::uint32_t low = 0, high = 0;
};

// The process that trains on a GPU. Its job runs until `lease_s`, which the process keeps
// postponing; if it dies or stops, the GPU becomes idle.
struct JobSlot {
  bool present = false;
  std::int32_t pid = 0;
  std::uint64_t pid_started = 0;  // in clock ticks since boot, because pids are reused
  double beat_s = 0;              // when the process last reported, on the GPU's time axis
  double lease_s = 0;
  std::uint64_t memory_bytes = 0;
  Load load = {};
  // For a rank of a job on `ranks` GPUs: jobs of one group wait for each other (sim/ranks.h). 0: no
  // group.
  std::uint64_t group = 0;
  std::uint32_t ranks = 1;
  std::uint64_t iterations_before = 0;  // finished before the job was started again
};

// The newest finished stretches of the job. Whichever process reads the GPU moves the job, and the
// job's own process makes its launches of them.
inline constexpr std::size_t kKeptUnits = 512;
struct UnitRing {
  std::array<FinishedUnit, kKeptUnits> units = {};
  std::uint64_t count = 0;  // total written; the newest is at (count - 1) % kKeptUnits
};

struct GpuRecord {
  SimGpuState sim = {};
  JobSlot job = {};
  UnitRing finished = {};
  ClockLock sm_lock = {}, memory_lock = {};
  bool persistence = false;
  // An idle card is not simulated while it is not read: time and energy that were skipped.
  double slept_s = 0, slept_j = 0;
};

struct GpuCell {
  GpuFacts facts;
  GpuConstants constants;
  std::atomic<std::uint32_t> current;  // index of the active record, 0 or 1
  GpuRecord records[2];
};

struct MachineState {
  std::uint32_t gpu_count;
  double speed;            // simulated seconds per second
  std::int64_t origin_ns;  // CLOCK_MONOTONIC when the machine's time was 0
  std::int64_t epoch_ns;   // the Unix time of that instant
  GpuCell cells[kMostGpus];
};
static_assert(std::is_trivially_copyable_v<GpuRecord>);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace hypermile
