// SPDX-License-Identifier: Apache-2.0
#include "evidence/spectrum/synthetic_trace.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/random.h"

namespace hypermile {
namespace {

constexpr double kTick = 0.001;           // seconds; step of the signal itself
constexpr double kRefresh = 0.1;          // seconds; refresh of power and counter
constexpr double kUtilization = 1 / 6.0;  // seconds over which utilisation is averaged

// The signal on a fine grid, in watts and percent.
struct Signal {
  std::vector<double> power, gpu, memory;
  int iterations = 0;
  void add(double watts, double gpu_percent, double memory_percent) {
    power.push_back(watts);
    gpu.push_back(gpu_percent);
    memory.push_back(memory_percent);
  }
};

struct Plateau {
  double share = 0, watts = 0, gpu = 0, memory = 0;
};

std::vector<Plateau> draw_plateaus(Random& random, bool busy) {
  const int count = 3 + static_cast<int>(random.uniform() * 3);
  std::vector<Plateau> plateaus;
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    plateaus.push_back({random.uniform(0.3, 1), random.uniform(120, 350),
                        busy ? 100 : random.uniform(30, 100), random.uniform(10, 70)});
    sum += plateaus.back().share;
  }
  // The optimizer's plateau differs from the others.
  plateaus.back().watts = random.uniform(90, 140);
  for (Plateau& plateau : plateaus) plateau.share /= sum;
  return plateaus;
}

// Running sums, for means over any stretch.
class Means {
 public:
  explicit Means(const std::vector<double>& values) : sums_(1, 0) {
    for (const double value : values) sums_.push_back(sums_.back() + value);
  }
  double mean(double from_s, double to_s) const {
    const std::size_t from = index(from_s);
    const std::size_t to = std::max(index(to_s), std::min(from + 1, sums_.size() - 1));
    return to > from ? (sums_[to] - sums_[from]) / static_cast<double>(to - from) : 0;
  }
  double integral(double to_s) const { return sums_[index(to_s)] * kTick; }

 private:
  std::size_t index(double s) const {
    return std::min(sums_.size() - 1, static_cast<std::size_t>(std::max(0.0, s) / kTick));
  }
  std::vector<double> sums_;
};

struct Sensing {
  double seconds = 0, poll_s = 0.1, average_s = 0.025, noise_w = 4;
  bool counter = true;
};

// What polls of the sensors would read.
NvmlTrace sense(const Signal& signal, const Sensing& sensing, Random& random) {
  const Means power(signal.power);
  const Means gpu(signal.gpu);
  const Means memory(signal.memory);
  const double power_offset = random.uniform(0, kRefresh);
  const double energy_offset = random.uniform(0, kRefresh);
  NvmlTrace trace;
  double refreshed = -1;
  double watts = 0;
  double t = 0.5;
  while (t < sensing.seconds + 0.5) {
    const double refresh = std::floor((t - power_offset) / kRefresh) * kRefresh + power_offset;
    if (refresh > refreshed) {
      watts =
          power.mean(refresh - sensing.average_s, refresh) + sensing.noise_w * random.gaussian();
      refreshed = refresh;
    }
    const double use = std::floor(t / kUtilization) * kUtilization;
    const double step = std::floor((t - energy_offset) / kRefresh) * kRefresh + energy_offset;
    const double row = t + 0.0005 * random.uniform();
    trace.power_w.push_back({row, watts});
    trace.gpu_percent.push_back({row, std::round(gpu.mean(use - kUtilization, use))});
    trace.memory_percent.push_back({row, std::round(memory.mean(use - kUtilization, use))});
    if (sensing.counter) trace.energy_j.push_back({row, power.integral(step)});
    t += sensing.poll_s;
  }
  return trace;
}

Signal play(const SyntheticTraceOptions& job, Random& random) {
  const std::vector<Plateau> plateaus = draw_plateaus(random, job.busy);
  Signal signal;
  const auto wanted = static_cast<std::size_t>((job.seconds + 1) / kTick);
  double left_over = 0;
  while (signal.power.size() < wanted) {
    ++signal.iterations;
    const double stretch = std::max(0.3, 1 + job.jitter * random.gaussian());
    for (int repeat = 0; repeat < job.inner; ++repeat) {
      for (std::size_t i = 0; i < plateaus.size(); ++i) {
        const bool last = i + 1 == plateaus.size();
        if (last && repeat + 1 < job.inner) continue;
        const double parts = last ? 1 : job.inner;
        left_over += job.period_s * stretch * plateaus[i].share / parts / kTick;
        while (left_over >= 1) {
          signal.add(plateaus[i].watts, plateaus[i].gpu, plateaus[i].memory);
          left_over -= 1;
        }
      }
    }
  }
  return signal;
}

// A series of noise with a standard deviation of about 1, one value every 0.1 s.
std::vector<double> draw_noise(NoiseKind kind, std::size_t count, Random& random) {
  std::vector<double> values;
  double state = 0;
  std::array<double, 8> octaves = {};
  for (std::size_t i = 0; i < count; ++i) {
    switch (kind) {
      case NoiseKind::kWhite:
        state = random.gaussian();
        break;
      case NoiseKind::kRed:
        state = 0.95 * state + 0.31 * random.gaussian();
        break;
      case NoiseKind::kPink: {
        // Voss-McCartney: each octave is renewed half as often as the one before.
        for (std::size_t k = 0; k < octaves.size(); ++k) {
          if (i % (1U << k) == 0) octaves[k] = random.gaussian();
        }
        state = 0;
        for (const double octave : octaves) state += octave / 2.8;
        break;
      }
      case NoiseKind::kRandomWalk:
        state += 0.1 * random.gaussian();
        break;
      case NoiseKind::kBursts:
        if (random.uniform() < 0.08) state = random.uniform() < 0.5 ? 0 : random.uniform(-2, 2);
        break;
    }
    values.push_back(state);
  }
  return values;
}

}  // namespace

SyntheticTrace synthetic_trace(const SyntheticTraceOptions& job) {
  Random random(derive_seed(job.seed, "synthetic trace"));
  const Signal signal = play(job, random);
  SyntheticTrace result;
  result.trace =
      sense(signal, {job.seconds, job.poll_s, job.average_s, job.noise_w, job.counter}, random);
  result.period_s = static_cast<double>(signal.power.size()) * kTick / signal.iterations;
  return result;
}

NvmlTrace noise_trace(NoiseKind kind, double seconds, std::uint64_t seed) {
  Random random(derive_seed(seed, "noise trace"));
  const auto count = static_cast<std::size_t>((seconds + 1) / 0.1);
  const std::vector<double> power = draw_noise(kind, count, random);
  const std::vector<double> use = draw_noise(kind, count, random);
  Signal signal;
  for (std::size_t i = 0; i < count; ++i) {
    for (int tick = 0; tick < 100; ++tick) {
      signal.add(250 + 40 * power[i], std::clamp(60 + 15 * use[i], 0.0, 100.0),
                 std::clamp(40 + 10 * use[i], 0.0, 100.0));
    }
  }
  return sense(signal, {seconds, 0.1, 0.025, 2, true}, random);
}

}  // namespace hypermile
