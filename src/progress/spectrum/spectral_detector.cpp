// SPDX-License-Identifier: Apache-2.0
#include "progress/spectrum/spectral_detector.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include "progress/spectrum/gpoeo_period.h"
#include "progress/spectrum/periodicity.h"
#include "progress/spectrum/series.h"

namespace hypermile {
namespace {

// Seconds between updates of a register; finer polls show nothing new.
constexpr double kStep = 0.1;
// Seconds between two rows; slower recordings cannot show iterations.
constexpr double kSlowest = 1.1;
constexpr double kFewestSamples = 60;
constexpr double kShortest = 7;      // samples in the shortest period that is reported
constexpr double kLookFrom = 4;      // samples in the shortest period that is searched
constexpr double kStrong = 0.55;     // autocorrelation at a lag of one period
constexpr double kStrongFew = 0.75;  // the same with fewer than six repetitions…
// …and with fewer than 4.5, which slow noise can produce by chance.
constexpr double kStrongFewest = 0.85;
constexpr double kStrongHalf = 0.4;  // the same in parts of the recording
constexpr double kTolerance = 0.06;  // relative difference allowed between parts
constexpr double kFewestPeriods = 3.5;
// Share of a signal's variance that the period and its harmonics explain.
constexpr double kExplains = 0.4;
// Share of that: if an nth of the period reaches it, that is the period.
constexpr double kAsMuch = 0.94;
constexpr double kNearlyAsMuch = 0.86;
constexpr double kPasses = 0.6;  // share of momentary power's wave that the counter must show
// Share of mean power. The power reading is itself an average over 25 ms: a wave of milliseconds
// leaves one or two percent in it and in the counter, and that rest may beat with the sample grid.
constexpr double kFaint = 0.03;
// Utilisation points that its wave must have if there is no counter.
constexpr double kPlainPercent = 8;
constexpr double kHighest = 2.5;  // highest harmonic compared, in Hz
constexpr int kMostHarmonics = 12;

SpectralAnswer refuse(std::string reason) {
  return {std::nullopt, 0, 0, std::move(reason)};
}

struct Signals {
  double step_s = kStep;
  std::vector<double> power;
  std::vector<double> counted;  // mean power between two grid points, from the energy counter
  std::vector<double> gpu;
  std::vector<double> memory;
};

// Polled power if it exists, else the card's own buffer.
const std::vector<TimedValue>& power_of(const NvmlTrace& trace) {
  return trace.power_w.empty() ? trace.history_w : trace.power_w;
}

Signals signals_of(const NvmlTrace& trace, const SampleGrid& grid) {
  Signals signals;
  signals.step_s = grid.step_s;
  signals.power = held(power_of(trace), grid);
  signals.counted = mean_rate(trace.energy_j, grid);
  signals.gpu = held(trace.gpu_percent, grid);
  signals.memory = held(trace.memory_percent, grid);
  return signals;
}

bool varies(std::span<const double> series) {
  return !series.empty() && std::ranges::max(series) > std::ranges::min(series);
}

// Whether parts of the series show the period as well as the whole does.
bool holds_throughout(std::span<const double> series, double period) {
  const std::size_t part = series.size() * 6 / 10;
  const std::span<const double> parts[] = {series.first(part), series.last(part)};
  return std::ranges::all_of(parts, [&](std::span<const double> one) {
    const Repetition repetition(one);
    if (repetition.strength(period, kTolerance) < kStrongHalf) return false;
    // A part with few periods cannot be searched on its own.
    if (period * kFewestPeriods > static_cast<double>(one.size())) return true;
    // Several repetitions may fit the sample grid better than one.
    const auto found = repetition.find(kLookFrom);
    const double times = found ? std::max(1.0, std::round(found->period / period)) : 0;
    return found && times <= 4 && std::abs(found->period / period / times - 1) <= kTolerance;
  });
}

int harmonics_of(const Signals& signals, double period) {
  return std::clamp(static_cast<int>(kHighest * period * signals.step_s + 0.25), 2, kMostHarmonics);
}

// Whether the signal repeats with this period and mostly consists of it. A multiple of a shorter
// period would repeat too.
bool shows(const std::vector<double>& series, double period, int harmonics) {
  if (!varies(series)) return false;
  const Repetition repetition(series);
  return repetition.strength(period, kTolerance) >= kStrong &&
         repetition.explained(period, harmonics) >= kExplains;
}

// Utilisation is an average over at least 1/6 s, so a large swing cannot come from anything
// shorter.
bool utilization_shows(const Signals& signals, double period) {
  const int harmonics = harmonics_of(signals, period);
  return std::ranges::any_of(std::array{&signals.gpu, &signals.memory}, [&](const auto* series) {
    return shows(*series, period, harmonics) &&
           Repetition(*series).amplitude(period, harmonics) >= kPlainPercent / 2;
  });
}

// Why the averaging sensors contradict the period; empty if they confirm it.
std::string object_to(const Signals& signals, double period) {
  const double period_s = period * signals.step_s;
  const int harmonics = harmonics_of(signals, period);
  const bool in_power = shows(signals.power, period, harmonics);
  const bool in_counter = shows(signals.counted, period, harmonics);
  if (varies(signals.counted) && !in_counter) {
    return fmt::format(
        "power or utilisation seems to repeat every {:.2f} s, but the energy counter does not: "
        "this "
        "may be an alias of something shorter than a sample",
        period_s);
  }
  if (in_power && in_counter) {
    const double seen = Repetition(signals.power).amplitude(period, harmonics);
    const double counted = Repetition(signals.counted).amplitude(period, harmonics);
    const double mean = std::accumulate(signals.power.begin(), signals.power.end(), 0.0) /
                        static_cast<double>(signals.power.size());
    const bool faint = counted < kFaint * mean && !utilization_shows(signals, period);
    if (counted >= kPasses * seen && !faint) return {};
    if (faint) {
      return fmt::format(
          "power repeats every {:.2f} s, but only by {:.1f} % of its mean: this may be what "
          "averaging leaves of something much shorter",
          period_s, 100 * counted / mean);
    }
    return fmt::format(
        "power seems to repeat every {:.2f} s, but the energy counter shows only {:.0f} % of that: "
        "this is an alias of something shorter than a sample",
        period_s, 100 * counted / seen);
  }
  if ((in_power || in_counter) && utilization_shows(signals, period)) return {};
  if (!in_power) {
    return fmt::format("utilisation seems to repeat every {:.2f} s, but power does not", period_s);
  }
  return fmt::format(
      "power seems to repeat every {:.2f} s, but no averaging sensor does: this may be an alias of "
      "something shorter than a sample",
      period_s);
}

// Several repetitions may fit the sample grid better than one, so the period is the shortest that
// explains as much of the signal. nullopt if a shorter one nearly does, because then either may be
// right.
std::optional<double> shortest_of(const std::vector<double>& series, double period, int harmonics) {
  const Repetition repetition(series);
  const double whole = repetition.explained(period, harmonics);
  bool doubtful = false;
  for (int n = 4; n >= 2; --n) {
    const double part = period / n;
    if (part < kLookFrom || harmonics < n) continue;
    const double held = repetition.explained(part, harmonics / n);
    if (held >= kAsMuch * whole) return part;
    doubtful = doubtful || held >= kNearlyAsMuch * whole;
  }
  return doubtful ? std::nullopt : std::optional(period);
}

struct Candidate {
  Periodicity periodicity;
  const std::vector<double>* series = nullptr;
};

// The strongest repetition in any of the signals or in their composite.
std::optional<Candidate> strongest(const Signals& signals, const std::vector<double>& composite) {
  std::optional<Candidate> best;
  const std::vector<double>& power = varies(signals.counted) ? signals.counted : signals.power;
  for (const auto* series : {&power, &composite, &signals.gpu, &signals.memory}) {
    if (!varies(*series)) continue;
    const auto found = Repetition(*series).find(kLookFrom);
    if (found && (!best || found->strength > best->periodicity.strength)) {
      best = Candidate{*found, series};
    }
  }
  return best;
}

SpectralAnswer judge(const Signals& signals, const std::vector<double>& composite) {
  const auto candidate = strongest(signals, composite);
  if (!candidate) return refuse("neither power nor utilisation repeats clearly");
  const double found = candidate->periodicity.period;
  const double times = static_cast<double>(signals.power.size()) / found;
  const double asked = times < 4.5 ? kStrongFewest : times < 6 ? kStrongFew : kStrong;
  if (candidate->periodicity.strength < asked) {
    return refuse("neither power nor utilisation repeats clearly");
  }
  const auto shortest = shortest_of(*candidate->series, found, harmonics_of(signals, found));
  if (!shortest) {
    return refuse(fmt::format(
        "the job repeats every {:.2f} s or in a fraction of that; which one is not clear",
        found * signals.step_s));
  }
  const double period = *shortest;
  const double period_s = period * signals.step_s;
  if (period < kShortest) {
    return refuse(
        fmt::format("something repeats about every {:.2f} s, too short for samples every "
                    "{:.2f} s: use launches or ticks instead",
                    period_s, signals.step_s));
  }
  if (!holds_throughout(*candidate->series, period)) {
    return refuse("what repeats in one part of the recording does not repeat in another");
  }
  if (std::string object = object_to(signals, period); !object.empty()) {
    return refuse(std::move(object));
  }
  SpectralAnswer answer;
  answer.period = Seconds(period_s);
  answer.iterations = static_cast<double>(signals.power.size()) / period;
  answer.confidence = std::clamp(candidate->periodicity.strength, 0.0, 1.0);
  return answer;
}

}  // namespace

SpectralAnswer detect_period(const NvmlTrace& trace) {
  const auto grid = grid_of(power_of(trace), kStep);
  if (!grid) return refuse("there are too few samples of power");
  if (grid->step_s > kSlowest) return refuse("samples lie more than a second apart");
  if (static_cast<double>(grid->count) < kFewestSamples) {
    return refuse(fmt::format("a recording of {:.1f} s is too short: give at least {:.0f} s",
                              static_cast<double>(grid->count) * grid->step_s,
                              kFewestSamples * grid->step_s));
  }
  const Signals signals = signals_of(trace, *grid);
  if (!varies(signals.power)) return refuse("power does not vary");
  std::vector<double> composite;
  if (!signals.gpu.empty() && !signals.memory.empty()) {
    const std::vector<double>& power = varies(signals.counted) ? signals.counted : signals.power;
    const double most = std::max(1.0, std::ranges::max(power));
    std::vector<double> percent;
    for (const double value : power) percent.push_back(100 * value / most);
    composite = gpoeo_composite(percent, signals.gpu, signals.memory);
  }
  return judge(signals, composite);
}

}  // namespace hypermile
