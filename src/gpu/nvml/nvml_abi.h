// SPDX-License-Identifier: Apache-2.0
//
// The part of NVML's binary interface that hypermile uses, written from NVML's public documentation
// so that the build needs no vendor header. Only src/gpu/nvml, its fakes and its checks include it.
// Numbers and layouts are NVML's; names are ours. A wrong layout would corrupt memory silently, so
// static_assert checks the sizes and tests/abi compares them with NVIDIA's headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hypermile::nvml {

struct DeviceTag;
using Device = DeviceTag*;
struct GpmSampleTag;
using GpmSample = GpmSampleTag*;

enum Return : int {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kNoPermission = 4,
  kAlreadyInitialized = 5,
  kNotFound = 6,
  kInsufficientSize = 7,
  kInsufficientPower = 8,
  kDriverNotLoaded = 9,
  kTimeout = 10,
  kIrqIssue = 11,
  kLibraryNotFound = 12,
  kFunctionNotFound = 13,
  kCorruptedInforom = 14,
  kGpuIsLost = 15,
  kResetRequired = 16,
  kOperatingSystem = 17,
  kLibRmVersionMismatch = 18,
  kInUse = 19,
  kMemory = 20,
  kNoData = 21,
  kVgpuEccNotSupported = 22,
  kInsufficientResources = 23,
  kFreqNotSupported = 24,
  kArgumentVersionMismatch = 25,
  kDeprecated = 26,
  kNotReady = 27,
  kGpuNotFound = 28,
  kInvalidState = 29,
  kUnknown = 999,
};

// NVML stores these where it has no value.
inline constexpr unsigned kNotAvailable32 = 0xFFFFFFFFU;
inline constexpr unsigned long long kNotAvailable64 = 0xFFFFFFFFFFFFFFFFULL;

enum ClockType : int { kClockGraphics = 0, kClockSm = 1, kClockMemory = 2 };
enum TemperatureSensor : int { kTemperatureGpu = 0 };
enum SamplingType : int { kTotalPowerSamples = 0 };
enum VirtualizationMode : int {
  kVirtualizationNone = 0,
  kVirtualizationPassthrough = 1,
  kVirtualizationVgpu = 2,
  kVirtualizationHostVgpu = 3,
  kVirtualizationHostVsga = 4,
};
inline constexpr unsigned kMigEnabled = 1;

// NVML numbers architectures by age; 0xFFFFFFFF means unknown.
inline constexpr unsigned kArchitectureVolta = 5;
inline constexpr unsigned kArchitectureAmpere = 7;

enum FieldId : unsigned { kFieldPowerAverage = 185, kFieldPowerInstant = 186 };

enum ValueType : int {
  kDouble = 0,
  kUnsignedInt = 1,
  kUnsignedLong = 2,
  kUnsignedLongLong = 3,
  kSignedLongLong = 4,
  kSignedInt = 5,
  kUnsignedShort = 6,
};

union Value {
  double as_double;
  int as_int;
  unsigned as_unsigned;
  unsigned long as_unsigned_long;
  unsigned long long as_unsigned_long_long;
  long long as_long_long;
  unsigned short as_unsigned_short;
};

struct FieldValue {
  unsigned field_id;
  unsigned scope_id;
  long long timestamp_us;
  long long latency_us;
  ValueType type;
  Return status;
  Value value;
};
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, value) == 32);

struct PowerSample {
  unsigned long long timestamp_us;  // microseconds since the Unix epoch
  Value value;
};
static_assert(sizeof(PowerSample) == 16);

struct Utilization {
  unsigned gpu;
  unsigned memory;
};

// Versions 1 and 2 are shorter but have the same layout up to `device`, the last member we read.
struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain;
  unsigned bus;
  unsigned device;
  unsigned device_id;
  unsigned subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, domain) == 16);

// Version 1 has only these two members; versions 2 and 3 add two MIG instance ids. Drivers 535.43
// to 535.86 had a fifth member in version 3, which later drivers removed again.
struct ProcessHead {
  unsigned pid;
  unsigned long long used_memory;
};
static_assert(sizeof(ProcessHead) == 16);
inline constexpr std::size_t kProcessStride1 = 16;
inline constexpr std::size_t kProcessStride2 = 24;
inline constexpr std::size_t kProcessStride535 = 32;

struct Temperature {
  unsigned version;
  TemperatureSensor sensor;
  int celsius;
};
static_assert(sizeof(Temperature) == 12);
inline constexpr unsigned kTemperatureVersion1 = sizeof(Temperature) | (1U << 24);

struct GpmSupport {
  unsigned version;
  unsigned supported;
};
inline constexpr unsigned kGpmSupportVersion1 = 1;

struct GpmMetric {
  unsigned id;
  Return status;
  double value;
  const char* short_name;
  const char* long_name;
  const char* unit;
};
static_assert(sizeof(GpmMetric) == 40);

// NVML's array grew from 98 to 477 entries without a new version number; `count` says how many are
// used. We allocate the largest known size.
inline constexpr unsigned kGpmMostMetrics = 477;
struct GpmMetricsGet {
  unsigned version;
  unsigned count;
  GpmSample first;
  GpmSample second;
  GpmMetric metrics[kGpmMostMetrics];
};
static_assert(offsetof(GpmMetricsGet, metrics) == 24);
inline constexpr unsigned kGpmMetricsGetVersion1 = 1;

enum GpmMetricId : unsigned {
  kGpmGraphics = 1,
  kGpmSm = 2,
  kGpmSmOccupancy = 3,
  kGpmInteger = 4,
  kGpmAnyTensor = 5,
  kGpmDfmaTensor = 6,
  kGpmHmmaTensor = 7,
  kGpmImmaTensor = 9,
  kGpmDramBandwidth = 10,
  kGpmFp64 = 11,
  kGpmFp32 = 12,
  kGpmFp16 = 13,
  kGpmPcieTx = 20,
  kGpmPcieRx = 21,
  kGpmNvlinkRx = 60,
  kGpmNvlinkTx = 61,
};

}  // namespace hypermile::nvml
