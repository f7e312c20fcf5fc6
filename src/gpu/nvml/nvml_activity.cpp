// SPDX-License-Identifier: Apache-2.0
#include "gpu/nvml/nvml_activity.h"

#include <cmath>
#include <memory>
#include <utility>

#include "gpu/nvml/nvml_error.h"
#include "gpu/nvml/nvml_values.h"

namespace hypermile {
namespace {

constexpr Seconds kShortestInterval(0.1);  // below this a Hopper card reports zeros

struct Metric {
  nvml::GpmMetricId id;
  std::optional<double> ActivityMetrics::*member;
  bool percent;
};
constexpr Metric kMetrics[] = {
    {nvml::kGpmGraphics, &ActivityMetrics::graphics, true},
    {nvml::kGpmSm, &ActivityMetrics::sm, true},
    {nvml::kGpmSmOccupancy, &ActivityMetrics::sm_occupancy, true},
    {nvml::kGpmInteger, &ActivityMetrics::integer, true},
    {nvml::kGpmAnyTensor, &ActivityMetrics::any_tensor, true},
    {nvml::kGpmDfmaTensor, &ActivityMetrics::dfma_tensor, true},
    {nvml::kGpmHmmaTensor, &ActivityMetrics::hmma_tensor, true},
    {nvml::kGpmImmaTensor, &ActivityMetrics::imma_tensor, true},
    {nvml::kGpmDramBandwidth, &ActivityMetrics::dram_bandwidth, true},
    {nvml::kGpmFp64, &ActivityMetrics::fp64, true},
    {nvml::kGpmFp32, &ActivityMetrics::fp32, true},
    {nvml::kGpmFp16, &ActivityMetrics::fp16, true},
    {nvml::kGpmPcieTx, &ActivityMetrics::pcie_tx_mib_s, false},
    {nvml::kGpmPcieRx, &ActivityMetrics::pcie_rx_mib_s, false},
    {nvml::kGpmNvlinkTx, &ActivityMetrics::nvlink_tx_mib_s, false},
    {nvml::kGpmNvlinkRx, &ActivityMetrics::nvlink_rx_mib_s, false},
};

std::optional<double> value_of(const nvml::GpmMetric& raw, bool percent) {
  if (raw.status != nvml::kSuccess || !std::isfinite(raw.value) || raw.value < 0) {
    return std::nullopt;
  }
  return percent ? share_of_percent(raw.value) : std::optional(raw.value);
}

Error not_ready() {
  return Error{ErrorCode::kNotReady, "the GPU's activity can be read only over 100 ms or more",
               "try again later"};
}

}  // namespace

NvmlActivity::NvmlActivity(const NvmlLibrary& library, nvml::Device device, Clock& clock)
    : nvml_(library.functions()), device_(device), clock_(clock) {}

NvmlActivity::~NvmlActivity() {
  if (older_ != nullptr) nvml::call(nvml_.gpm_sample_free, older_);
  if (newer_ != nullptr) nvml::call(nvml_.gpm_sample_free, newer_);
}

Result<void> NvmlActivity::allocate() {
  for (nvml::GpmSample* slot : {&older_, &newer_}) {
    if (*slot != nullptr) continue;
    nvml::GpmSample sample = nullptr;
    const nvml::Return code = nvml::call(nvml_.gpm_sample_alloc, &sample);
    if (code != nvml::kSuccess) return nvml_error(code, "prepare to read the GPU's activity");
    *slot = sample;
  }
  return {};
}

Result<ActivityMetrics> NvmlActivity::since_previous() {
  RETURN_IF_ERROR(allocate());
  const Instant now = clock_.now();
  if (older_time_ && now - *older_time_ < kShortestInterval) return not_ready();
  const nvml::Return code = nvml::call(nvml_.gpm_sample_get, device_, newer_);
  if (code != nvml::kSuccess) return nvml_error(code, "read the GPU's activity");
  if (!older_time_) {
    std::swap(older_, newer_);
    older_time_ = now;
    return not_ready();
  }
  Result<ActivityMetrics> metrics = between(*older_time_, now);
  // Swaps even after a failure, so that a sample which the driver rejects is not offered again for
  // ever.
  std::swap(older_, newer_);
  older_time_ = now;
  return metrics;
}

Result<ActivityMetrics> NvmlActivity::between(Instant from, Instant to) const {
  const auto request = std::make_unique<nvml::GpmMetricsGet>();  // 19 kB, too much for the stack
  request->version = nvml::kGpmMetricsGetVersion1;
  request->first = older_;
  request->second = newer_;
  for (const Metric& metric : kMetrics) request->metrics[request->count++].id = metric.id;

  const nvml::Return code = nvml::call(nvml_.gpm_metrics_get, request.get());
  if (code != nvml::kSuccess) return nvml_error(code, "evaluate the GPU's activity");

  ActivityMetrics activity;
  activity.from = from;
  activity.to = to;
  const nvml::GpmMetric* raw = request->metrics;
  for (const Metric& metric : kMetrics) {
    activity.*metric.member = value_of(*raw++, metric.percent);
  }
  return activity;
}

}  // namespace hypermile
