// SPDX-License-Identifier: Apache-2.0
#include "control/feature_collector.h"

#include <utility>

namespace hypermile {
namespace {

// GPM answers over 100 ms or more and now and then not at all, so several answers are averaged;
// utilisation moves every 200 ms (docs/evidence/h200-sensing.md).
constexpr Seconds kPeriod = Seconds(0.5);

using Metric = std::optional<double> ActivityMetrics::*;
constexpr Metric kMetrics[] = {&ActivityMetrics::sm,
                               &ActivityMetrics::sm_occupancy,
                               &ActivityMetrics::any_tensor,
                               &ActivityMetrics::fp64,
                               &ActivityMetrics::fp32,
                               &ActivityMetrics::fp16,
                               &ActivityMetrics::integer,
                               &ActivityMetrics::dram_bandwidth,
                               &ActivityMetrics::pcie_tx_mib_s,
                               &ActivityMetrics::pcie_rx_mib_s,
                               &ActivityMetrics::nvlink_tx_mib_s,
                               &ActivityMetrics::nvlink_rx_mib_s};

}  // namespace

void FeatureCollector::Mean::add(std::optional<double> value) {
  if (!value) return;
  sum += *value;
  ++count;
}

std::optional<double> FeatureCollector::Mean::value() const {
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

FeatureCollector::FeatureCollector(const ProcessProgress& process, GpuWatch& gpu,
                                   PerformanceCounters* counters)
    : process_(process),
      gpu_(gpu),
      has_activity_(gpu.capabilities().activity_metrics),
      begin_(gpu.clock().now()),
      next_(begin_ + kPeriod),
      launches_(process.launches()),
      counters_(counters) {
  static_assert(std::size(kMetrics) == std::tuple_size_v<decltype(activity_)>);
  // The first call only begins the interval; what an earlier caller had begun is not ours.
  if (has_activity_) read_activity();
  for (Mean& mean : activity_) mean = {};
  if (counters_ != nullptr) counters_->begin(gpu.identity());
}

FeatureCollector::~FeatureCollector() {
  if (counters_ != nullptr) counters_->end();
}

void FeatureCollector::poll(Instant now) {
  if (now < next_ || gpu_.failing()) return;
  next_ = now + kPeriod;
  if (has_activity_) read_activity();
  read_utilization();
}

void FeatureCollector::read_activity() {
  const Instant before = gpu_.clock().now();
  const Result<ActivityMetrics> metrics = gpu_.gpu().activity();
  spent_ += gpu_.clock().now() - before;
  ++calls_;
  if (!metrics) {
    has_activity_ = metrics.error().code == ErrorCode::kNotReady;
    return;
  }
  for (std::size_t i = 0; i < activity_.size(); ++i) activity_[i].add((*metrics).*kMetrics[i]);
}

void FeatureCollector::read_utilization() {
  const Instant before = gpu_.clock().now();
  const Result<Sample> sample = gpu_.gpu().read(Sensor::kUtilization);
  spent_ += gpu_.clock().now() - before;
  ++calls_;
  if (!sample) return;
  gpu_utilization_.add(sample->gpu_utilization);
  memory_utilization_.add(sample->memory_utilization);
}

Features FeatureCollector::collect(const Window& baseline) {
  FeatureSources sources;
  ActivityMetrics metrics;
  bool known = false;
  for (std::size_t i = 0; i < activity_.size(); ++i) {
    metrics.*kMetrics[i] = activity_[i].value();
    known = known || activity_[i].count > 0;
  }
  if (known) sources.activity = metrics;
  sources.gpu_utilization = gpu_utilization_.value();
  sources.memory_utilization = memory_utilization_.value();
  const Capabilities& card = gpu_.capabilities();
  sources.power_limit =
      card.current_power_limit ? card.current_power_limit : card.default_power_limit;
  if (!card.sm_clocks.empty()) sources.highest_sm_clock = card.sm_clocks.front();
  // Launches are counted since begin_, which is not quite the Window; their rate is the same.
  const Seconds watched = gpu_.clock().now() - begin_;
  const std::uint64_t launched = process_.launches() - launches_;
  if (launched > 0 && watched > Seconds(0)) {
    sources.launches = static_cast<double>(launched) * (baseline.duration / watched);
  }
  Features features = features_of(baseline, sources);
  if (counters_ == nullptr) return features;
  counted_ = std::exchange(counters_, nullptr)->end();
  // What NVML itself tells comes first: it is what models have learnt from.
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    const auto feature = static_cast<Feature>(i);
    if (!features.get(feature)) features.set(feature, counted_->features.get(feature));
  }
  return features;
}

}  // namespace hypermile
