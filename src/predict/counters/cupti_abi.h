// SPDX-License-Identifier: Apache-2.0
//
// The parts of CUPTI's binary interface that read performance counters (PM sampling and the
// profiler's host side, CUPTI 12.6 and newer), declared here so that the build needs no vendor
// header. Layouts are NVIDIA's, names are ours. Every call takes one structure that begins with its
// own size; later versions add fields at the end, which are not read here. tests/abi compares these
// declarations with the vendor's headers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hypermile::pm {

enum Code : int {
  kSuccess = 0,
  kInvalidParameter = 1,
  kInvalidOperation = 7,
  kOutOfMemory = 8,
  kNotInitialized = 15,
  kHardwareBusy = 26,
  kNotSupported = 27,
  kVirtualDevice = 33,
  kInsufficientPrivileges = 35,
  kVirtualInsufficientPrivileges = 40,
  kConfidentialComputing = 41,
  kWslDevice = 45,  // 41 to 45 are kinds of devices without counters
  kUnknown = 999,
};

struct HostTag;
struct SamplingTag;
using Host = HostTag*;          // describes a chip's metrics
using Sampling = SamplingTag*;  // the sampling of one device

enum ProfilerType : int { kPmSampling = 1 };
enum Trigger : int { kSysClockInterval = 0, kTimeInterval = 1 };
enum DecodeStop : int { kOther = 0, kDataFull = 1, kEndOfRecords = 2 };

struct ProfilerInitialize {
  std::size_t size;
  void* reserved;
};
struct ChipName {
  std::size_t size;
  void* reserved;
  std::size_t device;
  const char* chip;  // out
};
struct Availability {
  std::size_t size;
  void* reserved;
  std::size_t device;
  std::size_t image_size;  // out, where `image` is null
  std::uint8_t* image;
};

struct HostInitialize {
  std::size_t size;
  void* reserved;
  ProfilerType type;
  const char* chip;
  const std::uint8_t* availability;
  Host host;               // out
  const char* metric_set;  // since CUPTI 13.2; null allows any metric
};
struct HostDeinitialize {
  std::size_t size;
  void* reserved;
  Host host;
};
struct AddMetrics {
  std::size_t size;
  void* reserved;
  Host host;
  const char** names;
  std::size_t count;
};
struct ConfigSize {
  std::size_t size;
  void* reserved;
  Host host;
  std::size_t config_size;  // out
};
struct ConfigImage {
  std::size_t size;
  void* reserved;
  Host host;
  std::size_t config_size;
  std::uint8_t* config;
};
struct Passes {
  std::size_t size;
  void* reserved;
  std::size_t config_size;
  std::uint8_t* config;
  std::size_t passes;  // out
};
struct Evaluate {
  std::size_t size;
  void* reserved;
  Host host;
  const std::uint8_t* data;
  std::size_t data_size;
  std::size_t sample;
  const char** names;
  std::size_t count;
  double* values;
};

struct Enable {
  std::size_t size;
  void* reserved;
  std::size_t device;
  Sampling sampling;  // out
};
// The argument of disable, start and stop.
struct OfSampling {
  std::size_t size;
  void* reserved;
  Sampling sampling;
};
struct SetConfig {
  std::size_t size;
  void* reserved;
  Sampling sampling;
  std::size_t config_size;
  const std::uint8_t* config;
  std::size_t buffer_bytes;
  std::uint64_t interval;  // in clocks or nanoseconds, by `trigger`
  Trigger trigger;
  int keep_latest;
};
struct DataSize {
  std::size_t size;
  void* reserved;
  Sampling sampling;
  const char** names;
  std::size_t count;
  std::uint32_t most_samples;
  std::size_t data_size;  // out
};
struct DataInitialize {
  std::size_t size;
  void* reserved;
  Sampling sampling;
  std::size_t data_size;
  std::uint8_t* data;
};
struct Decode {
  std::size_t size;
  void* reserved;
  Sampling sampling;
  std::uint8_t* data;
  std::size_t data_size;
  DecodeStop stop;        // out
  std::uint8_t overflow;  // out
};
struct DataInfo {
  std::size_t size;
  void* reserved;
  const std::uint8_t* data;
  std::size_t data_size;
  std::size_t total;      // out
  std::size_t populated;  // out
  std::size_t completed;  // out
};

// The size that CUPTI expects of a structure: up to its last field, without padding.
template <class Params>
constexpr std::size_t size_of() {
  return sizeof(Params);
}
template <>
constexpr std::size_t size_of<Decode>() {
  return offsetof(Decode, overflow) + sizeof(std::uint8_t);
}

// The size that CUPTI 12 expects; later versions accept both.
template <>
constexpr std::size_t size_of<HostInitialize>() {
  return offsetof(HostInitialize, metric_set);
}

template <class Params>
Params fresh() {
  Params params{};
  params.size = size_of<Params>();
  return params;
}

}  // namespace hypermile::pm
