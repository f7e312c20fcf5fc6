// SPDX-License-Identifier: Apache-2.0
#include "trial/simulated_counters.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hypermile {
namespace {

constexpr double kSampleEvery = 0.005;  // s between two samples, as `hypermile counters` takes them
// Issue slots that each pipe takes at its peak: an FMA one each, a tensor instruction eight clocks.
constexpr double kTensorIssue = 0.1;
// The same for loads and their addresses at peak bandwidth, at the highest clocks.
constexpr double kDramIssue = 0.13;
constexpr double kGbPerMib = 1024.0 * 1024.0 * 1e-9;

}  // namespace

SimulatedCounters::Reading SimulatedCounters::read() {
  const Totals totals = card_.true_view().totals;
  return {totals, card_.state().now_s};
}

void SimulatedCounters::begin(const GpuIdentity&) {
  begun_ = read();
}

// An iteration issues the same instructions at any clocks, so what loads take of the slots grows as
// the SM clock falls against the memory clock.
double SimulatedCounters::issued(double scalar, double tensor, double dram) {
  const Capabilities& card = card_.capabilities();
  const SimGpuState& state = card_.state();
  double ratio = 1;
  if (!card.sm_clocks.empty() && !card.memory_clocks.empty() && state.segment.sm_true_mhz > 0 &&
      state.cache.memory_mhz > 0) {
    ratio = (state.cache.memory_mhz / card.memory_clocks.front().value()) /
            (state.segment.sm_true_mhz / card.sm_clocks.front().value());
  }
  return std::clamp(scalar + kTensorIssue * tensor + kDramIssue * dram * ratio, 0.0, 1.0);
}

PerformanceCounterReading SimulatedCounters::end() {
  PerformanceCounterReading reading;
  if (!begun_) return reading;
  const Reading from = *std::exchange(begun_, std::nullopt);
  const Reading to = read();
  const double span = to.time_s - from.time_s;
  if (span <= 0) {
    reading.problem = "no time passed while the simulated counters were read";
    return reading;
  }
  const auto share = [&](double Totals::*total) {
    return std::clamp((to.totals.*total - from.totals.*total) / span, 0.0, 1.0);
  };
  Features& features = reading.features;
  features.set(Feature::kSmActive, share(&Totals::sm_s));
  features.set(Feature::kSmOccupancy, load_.occupancy * share(&Totals::sm_s));
  features.set(Feature::kTensorActive, share(&Totals::tensor_s));
  features.set(Feature::kFp64Active, share(&Totals::fp64_s));
  features.set(Feature::kFp32Active, share(&Totals::fp32_s));
  features.set(Feature::kDramActive, share(&Totals::dram_s));
  features.set(Feature::kIssueActive, issued(share(&Totals::fp32_s) + share(&Totals::fp64_s),
                                             share(&Totals::tensor_s), share(&Totals::dram_s)));
  features.set(Feature::kPcieRate, load_.pcie_mib_s * share(&Totals::busy_s) * kGbPerMib);
  reading.samples = static_cast<std::size_t>(std::floor(span / kSampleEvery));
  return reading;
}

}  // namespace hypermile
