// SPDX-License-Identifier: Apache-2.0
//
// The load that a job puts on a GPU, measured at the default Setting: named numbers from which a
// predictor estimates time and energy at other Settings. They come from a baseline Window, from the
// card's activity counters (NVML GPM, Hopper and newer), and from utilisation where there is
// nothing better; sweeps on disk use the same names (predict/feature_columns.h). A feature that was
// not measured is missing, never zero. docs/reference/features.md explains each and its source.
// Nothing fails: a value that is absent, not finite or impossible stays missing.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "gpu/gpu.h"
#include "measure/window.h"

namespace hypermile {

enum class Feature : unsigned {
  kPowerShare,     // mean power over the power limit
  kPowerOverIdle,  // mean power over the board's idle power
  kSmActive,       // share of time and SMs with a warp, 0..1
  kSmOccupancy,    // resident warps over the most there can be, all SMs, 0..1
  kTensorActive,   // tensor pipe, 0..1 of peak
  kFp64Active,     // this and the next three: share of the pipe's peak, 0..1
  kFp32Active,
  kFp16Active,
  kIntegerActive,
  kIssueActive,        // instructions issued over issue slots
  kDramActive,         // DRAM bandwidth over peak
  kL2Active,           // L2 bandwidth over peak
  kPcieRate,           // both directions, GB/s
  kNvlinkRate,         // both directions, GB/s
  kGpuUtilization,     // share of time with any kernel, 0..1, as NVML's utilisation rate
  kMemoryUtilization,  // share of time with DRAM traffic, as NVML's utilisation rate
  kSmClockShare,       // SM clock seen over the highest there is
  kThrottledShare,     // share of the samples in which the clock was held down
  kLaunchRate,         // thousands of kernel launches a second
  kIdleShare,          // share of time without a kernel, 0..1
};
inline constexpr std::size_t kFeatureCount = 20;

// The name in sweeps, model files and docs/reference/features.md: "power_share", "sm_active", …
std::string_view name_of(Feature feature);
std::optional<Feature> feature_from(std::string_view name);

class Features {
 public:
  std::optional<double> get(Feature feature) const { return values_[index(feature)]; }
  // A value that is negative or not finite is stored as missing.
  void set(Feature feature, std::optional<double> value);
  std::size_t known() const;  // how many are not missing
  bool operator==(const Features&) const = default;

  static constexpr std::size_t index(Feature feature) { return static_cast<std::size_t>(feature); }

 private:
  std::array<std::optional<double>, kFeatureCount> values_ = {};
};

// What is known about the card and the job beside the Window itself; all optional.
struct FeatureSources {
  std::optional<ActivityMetrics> activity;  // over the Window
  std::optional<double> gpu_utilization;    // means over the Window, 0..1
  std::optional<double> memory_utilization;
  std::optional<Watts> power_limit;  // the limit in force
  std::optional<Watts> idle_power;
  std::optional<Mhz> highest_sm_clock;
  std::optional<double> launches;      // kernel launches in the Window
  std::optional<Seconds> kernel_time;  // time in the Window with a kernel on the GPU
};

// `baseline` is a Window at the default Setting.
Features features_of(const Window& baseline, const FeatureSources& sources);

}  // namespace hypermile
