// SPDX-License-Identifier: Apache-2.0
#include "measure/features.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace hypermile {
namespace {

constexpr std::string_view kNames[] = {
    "power_share", "power_over_idle", "sm_active",       "sm_occupancy",    "tensor_active",
    "fp64_active", "fp32_active",     "fp16_active",     "integer_active",  "issue_active",
    "dram_active", "l2_active",       "pcie_gb_s",       "nvlink_gb_s",     "gpu_util",
    "mem_util",    "sm_clock_share",  "throttled_share", "launches_per_ms", "idle_share"};
static_assert(std::size(kNames) == kFeatureCount);

constexpr double kMibPerGb = 1e9 / (1024.0 * 1024.0);

// Sum of both directions; unknown unless both are known.
std::optional<double> traffic(std::optional<double> out_mib_s, std::optional<double> in_mib_s) {
  if (!out_mib_s || !in_mib_s) return std::nullopt;
  return (*out_mib_s + *in_mib_s) / kMibPerGb;
}

void add_activity(const ActivityMetrics& activity, Features& features) {
  features.set(Feature::kSmActive, activity.sm);
  features.set(Feature::kSmOccupancy, activity.sm_occupancy);
  features.set(Feature::kTensorActive, activity.any_tensor);
  features.set(Feature::kFp64Active, activity.fp64);
  features.set(Feature::kFp32Active, activity.fp32);
  features.set(Feature::kFp16Active, activity.fp16);
  features.set(Feature::kIntegerActive, activity.integer);
  features.set(Feature::kDramActive, activity.dram_bandwidth);
  features.set(Feature::kPcieRate, traffic(activity.pcie_tx_mib_s, activity.pcie_rx_mib_s));
  features.set(Feature::kNvlinkRate, traffic(activity.nvlink_tx_mib_s, activity.nvlink_rx_mib_s));
}

}  // namespace

std::string_view name_of(Feature feature) {
  return kNames[Features::index(feature)];
}

std::optional<Feature> feature_from(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<Feature>(found - std::begin(kNames));
}

void Features::set(Feature feature, std::optional<double> value) {
  if (value && (!std::isfinite(*value) || *value < 0)) value.reset();
  values_[index(feature)] = value;
}

std::size_t Features::known() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(values_, [](const auto& value) { return value.has_value(); }));
}

Features features_of(const Window& baseline, const FeatureSources& sources) {
  Features features;
  if (sources.activity) add_activity(*sources.activity, features);
  features.set(Feature::kGpuUtilization, sources.gpu_utilization);
  features.set(Feature::kMemoryUtilization, sources.memory_utilization);
  if (baseline.power && sources.power_limit) {
    features.set(Feature::kPowerShare, *baseline.power / *sources.power_limit);
  }
  if (baseline.power && sources.idle_power) {
    features.set(Feature::kPowerOverIdle, *baseline.power / *sources.idle_power);
  }
  if (baseline.sm_clock && sources.highest_sm_clock) {
    features.set(Feature::kSmClockShare, *baseline.sm_clock / *sources.highest_sm_clock);
  }
  features.set(Feature::kThrottledShare, baseline.throttled_share);
  if (sources.launches) {
    features.set(Feature::kLaunchRate, *sources.launches / baseline.duration.value() / 1e3);
  }
  if (sources.kernel_time && baseline.duration > Seconds(0)) {
    features.set(Feature::kIdleShare, std::max(0.0, 1 - *sources.kernel_time / baseline.duration));
  }
  return features;
}

}  // namespace hypermile
