// SPDX-License-Identifier: Apache-2.0
#include "progress/spectrum/series.h"

#include <algorithm>
#include <cmath>

namespace hypermile {
namespace {

constexpr std::size_t kMostPoints = 1U << 17;  // three and a half hours at 100 ms

// The points at which the counter was first seen with a new value.
std::vector<TimedValue> changes_of(std::span<const TimedValue> counter) {
  std::vector<TimedValue> changes;
  for (const TimedValue& one : counter) {
    if (changes.empty() || one.value != changes.back().value) changes.push_back(one);
  }
  return changes;
}

double between(const std::vector<TimedValue>& changes, double time) {
  const auto after = std::ranges::upper_bound(changes, time, {}, &TimedValue::time_s);
  const auto index = std::clamp<std::ptrdiff_t>(after - changes.begin(), 1,
                                                static_cast<std::ptrdiff_t>(changes.size()) - 1);
  const TimedValue& a = changes[static_cast<std::size_t>(index - 1)];
  const TimedValue& b = changes[static_cast<std::size_t>(index)];
  return a.value + (b.value - a.value) * (time - a.time_s) / (b.time_s - a.time_s);
}

}  // namespace

std::optional<SampleGrid> grid_of(std::span<const TimedValue> series, double finest_s) {
  if (series.size() < 4) return std::nullopt;
  std::vector<double> gaps;
  for (std::size_t i = 1; i < series.size(); ++i) {
    gaps.push_back(series[i].time_s - series[i - 1].time_s);
  }
  std::ranges::nth_element(gaps, gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2));
  // Polls with a fixed pause drift a little, but still follow the register's own pace.
  const double usual = gaps[gaps.size() / 2];
  const double step = usual > 1.2 * finest_s ? usual : finest_s;
  const double span = series.back().time_s - series.front().time_s;
  if (!(step > 0) || !(span > 0)) return std::nullopt;
  const auto count = static_cast<std::size_t>(
      std::min(std::floor(span / step) + 1, static_cast<double>(kMostPoints)));
  return SampleGrid{series.front().time_s, step, count};
}

std::vector<double> held(std::span<const TimedValue> series, const SampleGrid& grid) {
  std::vector<double> values;
  if (series.empty()) return values;
  std::size_t at = 0;
  for (std::size_t i = 0; i < grid.count; ++i) {
    // A row that comes slightly after a grid point still belongs to it.
    const double time = grid.time(i) + grid.step_s / 4;
    while (at + 1 < series.size() && series[at + 1].time_s <= time) ++at;
    values.push_back(series[at].value);
  }
  return values;
}

std::vector<double> mean_rate(std::span<const TimedValue> counter, const SampleGrid& grid) {
  const std::vector<TimedValue> changes = changes_of(counter);
  const bool rises = std::ranges::is_sorted(changes, {}, &TimedValue::value);
  if (changes.size() < 8 || !rises) return {};
  std::vector<double> rates;
  for (std::size_t i = 0; i < grid.count; ++i) {
    const double from = grid.time(i) - grid.step_s / 2;
    rates.push_back((between(changes, from + grid.step_s) - between(changes, from)) / grid.step_s);
  }
  return rates;
}

}  // namespace hypermile
