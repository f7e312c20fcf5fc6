// SPDX-License-Identifier: Apache-2.0
#include "progress/spectrum/periodicity.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "progress/spectrum/spectrum.h"

namespace hypermile {
namespace {

constexpr std::size_t kFine = 8;            // lags per sample
constexpr double kLongestShare = 1 / 3.05;  // of the series, so that three repetitions fit
constexpr double kAsGood = 0.90;  // of the strongest peak: a shorter period with this strength wins
constexpr double kRise = 0.25;    // by which a peak must rise above the deepest lag before it
// Of the first peak: multiples at least this strong refine the period.
constexpr double kKeepsStep = 0.6;
constexpr double kFewPeriods = 16;   // up to this many, periods are followed one by one
constexpr double kMayDiffer = 0.25;  // relative difference allowed between periods
constexpr double kAlike = 0.4;       // correlation required of a period with the first
constexpr double kReach = 0.5;       // of the series: multiples are followed up to here

std::vector<double> without_trend(std::span<const double> series) {
  const auto n = static_cast<double>(series.size());
  double mean = 0;
  for (const double value : series) mean += value / n;
  double slope = 0;
  double squares = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const double x = static_cast<double>(i) - (n - 1) / 2;
    slope += x * (series[i] - mean);
    squares += x * x;
  }
  slope = squares > 0 ? slope / squares : 0;
  std::vector<double> left;
  for (std::size_t i = 0; i < series.size(); ++i) {
    left.push_back(series[i] - mean - slope * (static_cast<double>(i) - (n - 1) / 2));
  }
  return left;
}

}  // namespace

Repetition::Repetition(std::span<const double> series)
    : series_(without_trend(series)),
      correlation_(autocorrelation(series_, series.size() * 2 / 3, kFine)) {}

double Repetition::at(double lag) const {
  const auto index = static_cast<std::size_t>(std::lround(lag * kFine));
  return index < correlation_.size() ? correlation_[index] : 0;
}

double Repetition::best_lag(double from, double to) const {
  double best = from;
  double lag = from;
  while (lag <= to) {
    if (at(lag) > at(best)) best = lag;
    lag += 1.0 / kFine;
  }
  return best;
}

double Repetition::strength(double period, double slack) const {
  return at(best_lag(period * (1 - slack), period * (1 + slack)));
}

std::optional<Periodicity> Repetition::find(double shortest) const {
  const double longest = static_cast<double>(series_.size()) * kLongestShare;
  const auto first = static_cast<std::size_t>(std::max(1.0, shortest * kFine));
  const auto last = std::min(correlation_.size() - 1, static_cast<std::size_t>(longest * kFine));
  std::vector<Periodicity> peaks;
  double deepest = 1;
  for (std::size_t i = 1; i < last; ++i) {
    const double here = correlation_[i];
    deepest = std::min(deepest, here);
    if (i < first || here < correlation_[i - 1] || here <= correlation_[i + 1]) continue;
    if (here - deepest < kRise) continue;
    peaks.push_back({static_cast<double>(i) / kFine, here});
  }
  if (peaks.empty()) return std::nullopt;
  const double strongest = std::ranges::max(peaks, {}, &Periodicity::strength).strength;
  for (const Periodicity& peak : peaks) {
    if (peak.strength < kAsGood * strongest) continue;
    const double period = refined(peak.period);
    const bool few = period * kFewPeriods > static_cast<double>(series_.size());
    return Periodicity{few ? tracked(period).value_or(period) : period, peak.strength};
  }
  return std::nullopt;
}

double Repetition::refined(double period) const {
  // The n-th multiple gives the period n times as precisely, and narrows the search for the next.
  const double first = at(period);
  double best = period;
  for (int n = 2; n * best <= kReach * static_cast<double>(series_.size()); ++n) {
    const double slack = std::max(1.0, 0.15 * best);
    const double lag = best_lag(n * best - slack, n * best + slack);
    const bool inside = lag > n * best - slack && lag < n * best + slack;
    if (!inside || at(lag) < kKeepsStep * first) break;
    best = lag / n;
  }
  return best;
}

std::optional<double> Repetition::tracked(double period) const {
  const auto length = static_cast<std::size_t>(period);
  const std::span<const double> model(series_.data(), std::min(length, series_.size()));
  const auto likeness = [&](std::size_t at) {
    double both = 0;
    double one = 0;
    double other = 0;
    for (std::size_t i = 0; i < model.size(); ++i) {
      both += model[i] * series_[at + i];
      one += model[i] * model[i];
      other += series_[at + i] * series_[at + i];
    }
    return one > 0 && other > 0 ? both / std::sqrt(one * other) : 0;
  };
  double position = 0;
  int count = 0;
  for (;;) {
    const auto from = static_cast<std::size_t>(position + period * (1 - kMayDiffer));
    const auto to = static_cast<std::size_t>(position + period * (1 + kMayDiffer)) + 1;
    if (to + 1 + model.size() > series_.size()) break;
    std::size_t best = from;
    for (std::size_t at = from; at <= to; ++at) {
      if (likeness(at) > likeness(best)) best = at;
    }
    if (likeness(best) < kAlike) return std::nullopt;
    // Interpolates with a parabola through the best lag and its neighbours.
    const double before = likeness(best - 1);
    const double after = likeness(best + 1);
    const double bend = before - 2 * likeness(best) + after;
    const double shift = bend < 0 ? std::clamp(0.5 * (before - after) / bend, -0.5, 0.5) : 0;
    position = static_cast<double>(best) + shift;
    ++count;
  }
  return count > 0 ? std::optional(position / count) : std::nullopt;
}

double Repetition::amplitude(double period, int harmonics) const {
  const auto stretch = std::min(series_.size(), static_cast<std::size_t>(std::lround(4 * period)));
  double sum = 0;
  int count = 0;
  for (std::size_t at = 0; at + stretch <= series_.size(); at += stretch) {
    for (int harmonic = 1; harmonic <= harmonics; ++harmonic) {
      std::complex<double> component = 0;
      for (std::size_t i = 0; i < stretch; ++i) {
        const double angle = 2 * std::numbers::pi * harmonic * static_cast<double>(i) / period;
        component += series_[at + i] * std::polar(1.0, -angle);
      }
      sum += std::norm(component / static_cast<double>(stretch));
    }
    ++count;
  }
  return count > 0 ? std::sqrt(sum / count) : 0;
}

double Repetition::explained(double period, int harmonics) const {
  double squares = 0;
  for (const double value : series_) squares += value * value;
  if (!(squares > 0)) return 0;
  const double half = amplitude(period, harmonics);
  return 2 * half * half * static_cast<double>(series_.size()) / squares;
}

}  // namespace hypermile
