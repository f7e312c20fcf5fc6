// SPDX-License-Identifier: Apache-2.0
#include "progress/spectrum/gpoeo_period.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "progress/spectrum/moments.h"
#include "progress/spectrum/segment_similarity.h"
#include "progress/spectrum/spectrum.h"

namespace hypermile {
namespace {

constexpr double kUpperBound = 15;   // seconds; longest period considered
constexpr double kFloor = 0.4;       // seconds; shortest period considered
constexpr double kFirstWindow = 25;  // seconds
constexpr double kPeakShare = 0.60;  // share of the largest peak
constexpr std::size_t kMostPeaks = 6;
constexpr double kMultipleOff = 0.10;
constexpr double kPeriodsNeeded = 5.3;
constexpr double kPeriodsLeft = 2.8;  // periods in the last rolled window

// The sum or the difference, whichever varies more.
std::vector<double> combine(std::span<const double> a, std::span<const double> b) {
  std::vector<double> sum;
  std::vector<double> difference;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    sum.push_back(a[i] + b[i]);
    difference.push_back(a[i] - b[i]);
  }
  if (sum.empty()) return sum;
  return deviation_of(sum) >= deviation_of(difference) ? sum : difference;
}

// Periods, in seconds, of the strongest local maxima of the spectrum.
std::vector<double> peak_periods(std::span<const double> x, double rate, std::size_t length) {
  const std::vector<double> size = magnitudes(x, length);
  const double step = rate / static_cast<double>(2 * (size.size() - 1));
  std::vector<std::pair<double, double>> peaks;  // height, period
  for (std::size_t i = 1; i + 1 < size.size(); ++i) {
    const double period = 1 / (static_cast<double>(i) * step);
    if (period > kUpperBound || size[i] < size[i - 1] || size[i] < size[i + 1]) continue;
    peaks.emplace_back(size[i], period);
  }
  std::ranges::sort(peaks, std::greater<>());
  std::vector<double> periods;
  for (const auto& [height, period] : peaks) {
    if (height <= kPeakShare * peaks.front().first || periods.size() == kMostPeaks) break;
    periods.push_back(period);
  }
  return periods;
}

// Replaces candidates below the floor: by the largest of them, and by its multiples above the floor
// that are near multiples of all of them.
std::vector<double> above_floor(const std::vector<double>& candidates) {
  std::vector<double> kept;
  std::vector<double> below;
  for (const double one : candidates) (one < kFloor ? below : kept).push_back(one);
  if (below.empty()) return kept;
  const double largest = *std::ranges::max_element(below);
  const auto common = [&](double period) {
    return std::ranges::all_of(below, [&](double one) {
      const double ratio = period / one;
      return std::abs(ratio - std::round(ratio)) / ratio < kMultipleOff;
    });
  };
  std::vector<double> accepted;
  const auto full = [&] {
    if (accepted.empty()) return false;
    const double beyond = accepted.back() - accepted.front();
    return beyond > 0.3 * accepted.front() || beyond > 0.6 * largest ||
           accepted.size() >= below.size();
  };
  double period = kFloor;
  while (period < kUpperBound && !full()) {
    if (common(period)) accepted.push_back(period);
    period += 0.2 * largest;
  }
  kept.insert(kept.end(), accepted.begin(), accepted.end());
  kept.push_back(largest);
  return kept;
}

struct Estimate {
  double period = 0;
  double dissimilarity = -1;  // negative if the window is too short to compute it
};

Estimate refine(std::span<const double> x, double rate, Estimate best, double longest) {
  const double span = static_cast<double>(x.size()) / rate;
  for (int round = 0; round < 3; ++round) {
    const double centre = best.period;
    const double by_bin = 0.7 * 0.5 * centre * centre / span;
    const double reach = std::max(0.15 * centre, by_bin) / std::pow(2.0, round);
    const double step = std::clamp(reach / 5, 1 / rate, 1.0);
    double period = centre - reach;
    while (period <= centre + reach) {
      const auto d = dissimilarity(x, period * rate, longest * rate);
      if (d && *d < best.dissimilarity) best = {period, *d};
      period += step;
    }
    if (best.period == centre) break;
  }
  return best;
}

// nullopt if nothing stands out.
std::optional<Estimate> estimate(std::span<const double> x, double rate) {
  std::vector<double> candidates = peak_periods(x, rate, x.size());
  if (candidates.empty()) return std::nullopt;
  const double span = static_cast<double>(x.size()) / rate;
  if (*std::ranges::max_element(candidates) > 2 * span / 3 / 2) {
    candidates = peak_periods(x, rate, 2 * x.size());
  }
  candidates = above_floor(candidates);
  if (candidates.empty()) return std::nullopt;
  const double longest = *std::ranges::max_element(candidates);
  if (longest > span / 2) return Estimate{longest, -1};
  std::optional<Estimate> best;
  for (const double period : candidates) {
    const auto d = dissimilarity(x, period * rate, longest * rate);
    if (d && (!best || *d < best->dissimilarity)) best = Estimate{period, *d};
  }
  if (!best) return std::nullopt;
  Estimate result = refine(x, rate, *best, longest);
  if (result.period < kFloor) result.period *= std::ceil(kFloor / result.period);
  return result;
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Estimates from successively later starts.
std::vector<Estimate> rolled(std::span<const double> x, double rate, double first) {
  std::vector<Estimate> all;
  const double span = static_cast<double>(x.size()) / rate;
  double longest = first;
  double start = 0;
  while ((span - start) / longest >= kPeriodsLeft) {
    const auto one = estimate(x.subspan(static_cast<std::size_t>(start * rate)), rate);
    if (one && one->dissimilarity >= 0) {
      all.push_back(*one);
      longest = std::max(longest, one->period);
    }
    start += std::max(0.5 * first, 0.1 * span);
  }
  // If there are many, keeps the middle 60 % in time; then those near the median.
  if (all.size() > 8) {
    const auto cut = static_cast<std::ptrdiff_t>(static_cast<double>(all.size()) * 0.2);
    all.erase(all.end() - cut, all.end());
    all.erase(all.begin(), all.begin() + cut);
  }
  if (all.size() >= 4) {
    std::vector<double> periods;
    for (const Estimate& one : all) periods.push_back(one.period);
    const double median = median_of(periods);
    std::erase_if(all, [&](const Estimate& one) {
      return one.period < 0.60 * median || one.period > 1.35 * median;
    });
  }
  return all;
}

struct Answer {
  enum class Kind { kSure, kMore, kGiveUp } kind = Kind::kMore;
  double period = 0;
  double more = 5;  // seconds
};

Answer judge(std::span<const double> x, double rate, double threshold) {
  const double span = static_cast<double>(x.size()) / rate;
  const auto whole = estimate(x, rate);
  if (!whole) return {Answer::Kind::kGiveUp};
  if (span >= 3 * kUpperBound && whole->period > kUpperBound) return {Answer::Kind::kGiveUp};
  if (whole->dissimilarity < 0 || whole->period > span / 2) {
    return {Answer::Kind::kMore, whole->period,
            std::max(0.5 * whole->period, 3.1 * kUpperBound - span)};
  }
  const std::vector<Estimate> all = rolled(x, rate, whole->period);
  const bool enough = span >= kPeriodsNeeded * whole->period && all.size() >= 3;
  double spread = 1;
  if (enough) {
    const auto [low, high] = std::ranges::minmax(all, {}, &Estimate::period);
    double sum = 0;
    for (const Estimate& one : all) sum += one.period;
    spread = (high.period - low.period) / (sum / static_cast<double>(all.size()));
    if (spread < threshold) {
      const double best = std::ranges::min(all, {}, &Estimate::dissimilarity).period;
      double near = 0;
      double count = 0;
      for (const Estimate& one : all) {
        if (std::abs(one.period / best - 1) > 0.35) continue;
        near += one.period;
        ++count;
      }
      return {Answer::Kind::kSure, near / count};
    }
  }
  const bool hopeless = enough && spread >= threshold + 0.05 &&
                        ((span > kUpperBound && whole->period < 0.5 * kUpperBound) ||
                         span >= 1.3 * kPeriodsNeeded * whole->period);
  if (span > 2.1 * kUpperBound || hopeless) return {Answer::Kind::kGiveUp};
  return {Answer::Kind::kMore, whole->period,
          std::max({0.5 * whole->period, kPeriodsNeeded * whole->period - span, 5.0})};
}

}  // namespace

std::vector<double> gpoeo_composite(std::span<const double> power, std::span<const double> gpu,
                                    std::span<const double> memory) {
  std::vector<double> composite = combine(combine(power, gpu), memory);
  for (double& value : composite) value /= 3;
  return composite;
}

std::optional<GpoeoPeriod> gpoeo_period(std::span<const double> composite, double rate,
                                        GpoeoStrictness strictness) {
  const double threshold = strictness == GpoeoStrictness::kStrict   ? 0.10
                           : strictness == GpoeoStrictness::kNormal ? 0.15
                                                                    : 0.30;
  const double whole = static_cast<double>(composite.size()) / rate;
  double span = std::min(kFirstWindow, whole);
  for (;;) {
    const auto length = std::min(composite.size(), static_cast<std::size_t>(span * rate));
    const Answer answer = judge(composite.first(length), rate, threshold);
    if (answer.kind == Answer::Kind::kSure) {
      return GpoeoPeriod{Seconds(answer.period), Seconds(span)};
    }
    if (answer.kind == Answer::Kind::kGiveUp || span >= whole) return std::nullopt;
    span = std::min({span + answer.more, whole, 5.5 * kUpperBound});
    if (span >= 5.5 * kUpperBound) return std::nullopt;
  }
}

}  // namespace hypermile
