// SPDX-License-Identifier: Apache-2.0
//
// The part of NVML's binary interface that the stand-in offers to other clients but hypermile does
// not use; the rest is in gpu/nvml/nvml_abi.h. Taken from NVML's public documentation. Sizes are
// asserted, because a wrong layout corrupts the client's memory.
#pragma once

#include <cstddef>

#include "gpu/nvml/nvml_abi.h"

namespace hypermile::nvml {

// The version 3 struct without its last member.
struct PciInfo2 {
  char bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  unsigned reserved[4];
};
static_assert(sizeof(PciInfo2) == 52);

struct PciInfoExt {
  unsigned version, domain, bus, device, device_id, subsystem_id, base_class, sub_class;
  char bus_id[32];
};
static_assert(sizeof(PciInfoExt) == 64);
inline constexpr unsigned kPciInfoExtVersion1 = sizeof(PciInfoExt) | (1U << 24);
inline constexpr unsigned kPciClassDisplay = 3;

struct Memory1 {
  unsigned long long total, free, used;
};
struct Memory2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
static_assert(sizeof(Memory1) == 24 && sizeof(Memory2) == 40);
inline constexpr unsigned kMemoryVersion2 = sizeof(Memory2) | (2U << 24);

struct Process1 {
  unsigned pid;
  unsigned long long used_memory;
};
struct Process2 {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;  // MIG instances; 0xFFFFFFFF without MIG
};
static_assert(sizeof(Process1) == kProcessStride1 && sizeof(Process2) == kProcessStride2);

struct ProcessUtilization {
  unsigned pid;
  unsigned long long timestamp_us;
  unsigned sm, memory, encoder, decoder;
};
static_assert(sizeof(ProcessUtilization) == 32);

struct Uuid {
  unsigned version;
  unsigned type;  // 1: text, 2: binary
  char text[41];
};
static_assert(sizeof(Uuid) == 52);
inline constexpr unsigned kUuidVersion1 = sizeof(Uuid) | (1U << 24);

struct PowerValue2 {
  unsigned version;
  unsigned scope;
  unsigned milliwatts;
};
inline constexpr unsigned kPowerValueVersion2 = sizeof(PowerValue2) | (2U << 24);

enum MoreClockTypes : int { kClockVideo = 3, kClockTypes = 4 };
enum ClockId : int {
  kClockCurrent = 0,
  kClockAppTarget = 1,
  kClockAppDefault = 2,
  kClockBoostMax = 3
};
enum MoreSamplingTypes : int { kGpuUtilizationSamples = 1, kMemoryUtilizationSamples = 2 };
enum MoreFieldIds : unsigned { kFieldTotalEnergy = 83 };
enum TemperatureThreshold : int { kThresholdShutdown = 0, kThresholdSlowdown = 1, kThresholds = 9 };

// Symbolic clocks of nvmlDeviceSetGpuLockedClocks; both arguments must be symbolic.
inline constexpr unsigned kClockLimitTdp = 0xFFFFFF01;
inline constexpr unsigned kClockLimitUnlimited = 0xFFFFFF02;

inline constexpr unsigned kBrandGeForce = 5, kBrandNvidiaRtx = 13, kBrandNvidia = 14;
inline constexpr int kCudaVersion = 13000;  // 13.0

}  // namespace hypermile::nvml
