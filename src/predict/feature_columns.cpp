// SPDX-License-Identifier: Apache-2.0
#include "predict/feature_columns.h"

#include <algorithm>
#include <iterator>

#include "predict/card_facts.h"

namespace hypermile {
namespace {

// A column that equals a feature except for its unit.
struct Alias {
  std::string_view column;
  Feature feature;
  double factor;
};
constexpr Alias kAliases[] = {
    {"gpu_utilization", Feature::kGpuUtilization, 0.01},
    {"gpu_util_pct", Feature::kGpuUtilization, 0.01},
    {"avg_gpu_util_pct", Feature::kGpuUtilization, 0.01},
    {"sm_util_pct", Feature::kGpuUtilization, 0.01},
    {"mem_copy_utilization", Feature::kMemoryUtilization, 0.01},
    {"mem_util_pct", Feature::kMemoryUtilization, 0.01},
    {"avg_mem_bw_util_pct", Feature::kMemoryUtilization, 0.01},
    {"sm_efficiency", Feature::kSmActive, 1},
    {"ipc", Feature::kIssueActive, 0.25},  // an SM has four schedulers
};

// Columns that give a feature only together with other columns or with the card's peak rates.
constexpr std::string_view kCombined[] = {"pcie_tx_bytes",
                                          "pcie_rx_bytes",
                                          "achieved_occupancy",
                                          "dram_read_throughput",
                                          "dram_write_throughput",
                                          "l2_read_throughput",
                                          "l2_write_throughput",
                                          "inst_fp_32",
                                          "inst_fp_64",
                                          "inst_integer"};

class RowFeatures {
 public:
  explicit RowFeatures(const SweepRow& row) : row_(row), card_(card_facts(row.key.gpu)) {}

  Features read() {
    for (std::size_t i = 0; i < kFeatureCount; ++i) {
      const auto feature = static_cast<Feature>(i);
      features_.set(feature, number(name_of(feature)));
    }
    for (const Alias& alias : kAliases) {
      if (const auto value = number(alias.column)) {
        features_.set(alias.feature, *value * alias.factor);
      }
    }
    add_power();
    add_traffic();
    add_counts();
    return features_;
  }

 private:
  std::optional<double> number(std::string_view column) const {
    static const std::vector<std::string> columns = feature_columns();
    const auto at = static_cast<std::size_t>(std::ranges::find(columns, column) - columns.begin());
    return at < row_.numbers.size() ? row_.numbers[at] : std::nullopt;
  }
  std::optional<double> sum(std::string_view a, std::string_view b) const {
    const auto x = number(a);
    const auto y = number(b);
    if (!x || !y) return std::nullopt;
    return *x + *y;
  }

  void add_power() {
    std::optional<Watts> limit = row_.setting.power_limit;
    if (!limit && card_) limit = card_->power_limit;
    if (limit && !features_.get(Feature::kPowerShare)) {
      features_.set(Feature::kPowerShare, row_.power / *limit);
    }
  }

  void add_traffic() {
    if (const auto bytes = sum("pcie_tx_bytes", "pcie_rx_bytes")) {
      features_.set(Feature::kPcieRate, *bytes * 1e-9);
    }
    const auto dram = sum("dram_read_throughput", "dram_write_throughput");  // GB/s
    if (dram && card_ && row_.setting.memory_clock) {
      const double peak = row_.setting.memory_clock->value() * 1e-3 * card_->dram_bytes_per_clock;
      features_.set(Feature::kDramActive, *dram / peak);
    }
    const auto l2 = sum("l2_read_throughput", "l2_write_throughput");
    if (l2 && card_ && row_.setting.sm_clock) {
      const double peak = row_.setting.sm_clock->value() * 1e-3 * card_->l2_bytes_per_clock;
      features_.set(Feature::kL2Active, *l2 / peak);
    }
  }

  // nvprof counts thread instructions over one launch, and averages occupancy over active SMs only.
  void add_counts() {
    const auto occupancy = number("achieved_occupancy");
    if (const auto active = features_.get(Feature::kSmActive); occupancy && active) {
      features_.set(Feature::kSmOccupancy, *occupancy * *active);
    }
    if (!card_ || !row_.setting.sm_clock) return;
    const double clocks = row_.time.value() * row_.setting.sm_clock->value() * 1e6;
    const auto add = [&](Feature feature, std::string_view column, double lanes) {
      if (const auto count = number(column)) features_.set(feature, *count / (clocks * lanes));
    };
    add(Feature::kFp32Active, "inst_fp_32", card_->fp32_lanes);
    add(Feature::kFp64Active, "inst_fp_64", card_->fp64_lanes);
    add(Feature::kIntegerActive, "inst_integer", card_->integer_lanes);
  }

  const SweepRow& row_;
  std::optional<CardFacts> card_;
  Features features_;
};

}  // namespace

std::vector<std::string> feature_columns() {
  std::vector<std::string> columns;
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    columns.emplace_back(name_of(static_cast<Feature>(i)));
  }
  for (const Alias& alias : kAliases) columns.emplace_back(alias.column);
  columns.insert(columns.end(), std::begin(kCombined), std::end(kCombined));
  return columns;
}

Features features_of_row(const SweepRow& row) {
  return RowFeatures(row).read();
}

Features mean_features(const std::vector<const SweepRow*>& rows) {
  std::array<double, kFeatureCount> sums = {};
  std::array<double, kFeatureCount> known = {};
  for (const SweepRow* row : rows) {
    const Features features = features_of_row(*row);
    for (std::size_t i = 0; i < kFeatureCount; ++i) {
      const auto value = features.get(static_cast<Feature>(i));
      if (!value) continue;
      sums[i] += *value;
      known[i] += 1;
    }
  }
  Features mean;
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    if (known[i] > 0) mean.set(static_cast<Feature>(i), sums[i] / known[i]);
  }
  return mean;
}

}  // namespace hypermile
