// SPDX-License-Identifier: Apache-2.0
#include "progress/spectrum/gpoeo_period.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/statistics.h"
#include "progress/spectrum/moments.h"
#include "progress/spectrum/segment_similarity.h"
#include "progress/spectrum/spectrum.h"

namespace hypermile {
namespace {

constexpr double kFloor = 0.4;       // seconds; shortest period considered
constexpr double kPeakShare = 0.60;  // share of the largest peak
constexpr std::size_t kMostPeaks = 6;
constexpr double kMultipleOff = 0.10;
constexpr double kPeriodsNeeded = 5.3;
constexpr double kPeriodsLeft = 2.8;          // periods in the last rolled window
constexpr double kMostWindow = 5.5;           // times the longest period: the end of sampling
constexpr double kLater[] = {0, 0.33, 0.66};  // times the longest period: starts of the last test
constexpr double kLaterSpread = 0.30;         // of their mean: more is aperiodic
// A signal is flat where four windows have like means and hardly vary inside.
constexpr std::size_t kFlatWindows = 4;
constexpr double kFlatSeconds = 8;
constexpr double kFlatMeans = 0.04;
constexpr double kFlatDeviation = 0.04;
constexpr double kFlatOutlier = 0.20;
constexpr int kPriorGuesses = 5;  // evenly spaced where no peak fits the prior

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
std::vector<double> peak_periods(std::span<const double> x, double rate, std::size_t length,
                                 double most) {
  const std::vector<double> size = magnitudes(x, length);
  const double step = rate / static_cast<double>(2 * (size.size() - 1));
  std::vector<std::pair<double, double>> peaks;  // height, period
  for (std::size_t i = 1; i + 1 < size.size(); ++i) {
    const double period = 1 / (static_cast<double>(i) * step);
    if (period > most || size[i] < size[i - 1] || size[i] < size[i + 1]) continue;
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
std::vector<double> above_floor(const std::vector<double>& candidates, double most) {
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
  while (period < most && !full()) {
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

// Keeps the candidates that the prior allows. Where none is left, makes some, spread evenly over
// its range.
void keep_likely(std::vector<double>& candidates, const GpoeoPrior& prior) {
  const double least = prior.least * prior.period.value();
  const double most = prior.most * prior.period.value();
  std::erase_if(candidates, [&](double one) { return one < least || one > most; });
  if (!candidates.empty()) return;
  for (int i = 0; i < kPriorGuesses; ++i) {
    candidates.push_back(least + (most - least) * i / (kPriorGuesses - 1));
  }
}

// nullopt if nothing stands out.
std::optional<Estimate> estimate(std::span<const double> x, double rate, double most,
                                 const std::optional<GpoeoPrior>& prior = {}) {
  std::vector<double> candidates = peak_periods(x, rate, x.size(), most);
  if (candidates.empty()) return std::nullopt;
  const double span = static_cast<double>(x.size()) / rate;
  if (*std::ranges::max_element(candidates) > 2 * span / 3 / 2) {
    candidates = peak_periods(x, rate, 2 * x.size(), most);
  }
  candidates = above_floor(candidates, most);
  if (prior) keep_likely(candidates, *prior);
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

// Estimates from successively later starts.
std::vector<Estimate> rolled(std::span<const double> x, double rate, double first,
                             const GpoeoQuestion& question) {
  std::vector<Estimate> all;
  const double span = static_cast<double>(x.size()) / rate;
  double longest = first;
  double start = 0;
  while ((span - start) / longest >= kPeriodsLeft) {
    const auto one = estimate(x.subspan(static_cast<std::size_t>(start * rate)), rate,
                              question.longest.value(), question.prior);
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
    const double median = upper_median(periods);
    std::erase_if(all, [&](const Estimate& one) {
      return one.period < 0.60 * median || one.period > 1.35 * median;
    });
  }
  return all;
}

double threshold_of(GpoeoStrictness strictness) {
  switch (strictness) {
    case GpoeoStrictness::kStrict:
      return 0.10;
    case GpoeoStrictness::kNormal:
      return 0.15;
    case GpoeoStrictness::kRelaxed:
      return 0.30;
  }
  return 0.10;
}

// The last windows hardly differ, inside or from one another: there is nothing to detect.
bool flat(std::span<const double> x, double rate, double period) {
  const auto length = static_cast<std::size_t>(std::max(kFlatSeconds, period) * rate);
  if (length == 0 || x.size() < kFlatWindows * length) return false;
  std::optional<double> before;
  for (std::size_t k = kFlatWindows; k > 0; --k) {
    const std::span<const double> window = x.subspan(x.size() - k * length, length);
    const double mean = mean_of(window);
    if (!(std::abs(mean) > 0)) return false;
    const auto [low, high] = std::ranges::minmax(window);
    const double outlier = std::max(high - mean, mean - low);
    if (deviation_of(window) > kFlatDeviation * std::abs(mean)) return false;
    if (outlier > kFlatOutlier * std::abs(mean)) return false;
    if (before && std::abs(mean - *before) > kFlatMeans * std::abs(*before)) return false;
    before = mean;
  }
  return true;
}

// The test for aperiodic jobs, once three times the longest period has been sampled: estimates from
// three starts must agree.
bool starts_disagree(std::span<const double> x, double rate, double most) {
  std::vector<double> periods;
  for (const double later : kLater) {
    const auto from = static_cast<std::size_t>(later * most * rate);
    const auto one = estimate(x.subspan(std::min(from, x.size())), rate, most);
    if (one) periods.push_back(one->period);
  }
  if (periods.size() < std::size(kLater)) return true;
  const auto [low, high] = std::ranges::minmax(periods);
  return high - low > kLaterSpread * mean_of(periods);
}

// Relative spread of the estimates; and their mean, of those near the one whose stretches are most
// alike.
double spread_of(std::span<const Estimate> all) {
  const auto [low, high] = std::ranges::minmax(all, {}, &Estimate::period);
  double sum = 0;
  for (const Estimate& one : all) sum += one.period;
  return (high.period - low.period) / (sum / static_cast<double>(all.size()));
}

double agreed_period(std::span<const Estimate> all) {
  const double best = std::ranges::min(all, {}, &Estimate::dissimilarity).period;
  double near = 0;
  double count = 0;
  for (const Estimate& one : all) {
    if (std::abs(one.period / best - 1) > 0.35) continue;
    near += one.period;
    ++count;
  }
  return near / count;
}

GpoeoAnswer more(double period, double seconds) {
  return {GpoeoAnswer::Kind::kMore, Seconds(period), Seconds(seconds)};
}

}  // namespace

std::vector<double> gpoeo_composite(std::span<const double> power, std::span<const double> gpu,
                                    std::span<const double> memory) {
  std::vector<double> composite = combine(combine(power, gpu), memory);
  for (double& value : composite) value /= 3;
  return composite;
}

GpoeoAnswer gpoeo_ask(std::span<const double> x, double rate, const GpoeoQuestion& question) {
  const GpoeoAnswer aperiodic{GpoeoAnswer::Kind::kAperiodic, {}, {}};
  const double threshold = threshold_of(question.strictness);
  const double most = question.longest.value();
  const double span = static_cast<double>(x.size()) / rate;
  const auto whole = estimate(x, rate, most);
  if (!whole || flat(x, rate, whole->period)) return aperiodic;
  if (span >= 3 * most && (whole->period > most || starts_disagree(x, rate, most))) {
    return aperiodic;
  }
  if (span >= kMostWindow * most) return aperiodic;
  if (whole->dissimilarity < 0 || whole->period > span / 2) {
    return more(whole->period, std::max(0.5 * whole->period, 3.1 * most - span));
  }
  const std::vector<Estimate> all = rolled(x, rate, whole->period, question);
  const double wanted = std::max({0.5 * whole->period, kPeriodsNeeded * whole->period - span, 5.0});
  if (span < kPeriodsNeeded * whole->period || all.size() < 3) return more(whole->period, wanted);
  const double spread = spread_of(all);
  if (spread < threshold) {
    return {GpoeoAnswer::Kind::kPeriod, Seconds(agreed_period(all)), {}};
  }
  const bool hopeless =
      spread >= threshold + 0.05 &&
      ((span > most && whole->period < 0.5 * most) || span >= 1.3 * kPeriodsNeeded * whole->period);
  if (span > 2.1 * most || hopeless) return aperiodic;
  return more(whole->period, wanted);
}

std::optional<GpoeoPeriod> gpoeo_period(std::span<const double> composite, double rate,
                                        GpoeoStrictness strictness) {
  Seconds span = kGpoeoFirstWindow;
  for (;;) {
    const auto length = static_cast<std::size_t>(span.value() * rate);
    if (length > composite.size()) return std::nullopt;
    const GpoeoAnswer answer = gpoeo_ask(composite.first(length), rate, {.strictness = strictness});
    if (answer.kind == GpoeoAnswer::Kind::kPeriod) return GpoeoPeriod{answer.period, span};
    if (answer.kind == GpoeoAnswer::Kind::kAperiodic) return std::nullopt;
    span += std::max(answer.more, Seconds(1));
  }
}

}  // namespace hypermile
