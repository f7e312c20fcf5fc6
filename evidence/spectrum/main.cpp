// SPDX-License-Identifier: Apache-2.0
//
// Prints the tables of docs/evidence/spectrum.md:
//
//   spectrum_evidence H200_DATA
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "evidence/spectrum/synthetic_trace.h"
#include "progress/spectrum/gpoeo_period.h"
#include "progress/spectrum/nvml_trace_file.h"
#include "progress/spectrum/series.h"
#include "progress/spectrum/spectral_detector.h"

namespace hypermile {
namespace {

constexpr double kPeriods[] = {0.8, 0.83, 1.0, 1.3, 1.77, 2.5, 3.7, 5.0, 7.3, 10.0};
constexpr int kSeeds = 40;
constexpr int kNoiseSeeds = 250;
constexpr std::uint64_t kFresh = 130000;  // test seeds; the thresholds were chosen with other seeds
constexpr double kTolerance = 0.03;

std::optional<double> gpoeo_answer(const NvmlTrace& trace) {
  const auto grid = grid_of(trace.power_w.empty() ? trace.history_w : trace.power_w, 0.1);
  if (!grid) return std::nullopt;
  std::vector<double> power = held(trace.power_w, *grid);
  if (power.empty()) return std::nullopt;
  const double most = std::ranges::max(power);
  for (double& value : power) value *= 100 / most;
  const auto composite =
      gpoeo_composite(power, held(trace.gpu_percent, *grid), held(trace.memory_percent, *grid));
  const auto found = gpoeo_period(composite, 1 / grid->step_s);
  return found ? std::optional(found->period.value()) : std::nullopt;
}

// Its first window is longer than most recordings, and nothing can be said of it there.
std::string gpoeo_words(const NvmlTrace& trace) {
  if (trace.span_s() < kGpoeoFirstWindow.value()) {
    return fmt::format("not judged: {:.0f} s of the {:.0f} s that it samples first", trace.span_s(),
                       kGpoeoFirstWindow.value());
  }
  const auto answer = gpoeo_answer(trace);
  return answer ? fmt::format("{:.0f} ms", *answer * 1e3) : "no answer";
}

struct Tally {
  int runs = 0, right = 0, wrong = 0;
  double error = 0;  // sum over right answers
  void add(std::optional<double> answer, double truth) {
    ++runs;
    if (!answer) return;
    const double off = std::abs(*answer / truth - 1);
    if (off > kTolerance) {
      ++wrong;
      return;
    }
    ++right;
    error += off;
  }
  std::string text() const {
    return fmt::format("{:.1f} % | {:.1f} % | {:.2f} %", 100.0 * right / runs, 100.0 * wrong / runs,
                       right > 0 ? 100 * error / right : 0);
  }
};

std::optional<double> our_answer(const NvmlTrace& trace) {
  const auto period = detect_period(trace).period;
  return period ? std::optional(period->value()) : std::nullopt;
}

void synthetic_row(const char* name, SyntheticTraceOptions job) {
  Tally ours;
  Tally theirs;
  for (const double period : kPeriods) {
    for (int seed = 0; seed < kSeeds; ++seed) {
      job.period_s = period;
      job.seconds = 90;  // as long as GPOEO's detector may sample
      job.seed = kFresh + static_cast<std::uint64_t>(seed);
      const SyntheticTrace made = synthetic_trace(job);
      ours.add(our_answer(made.trace), made.period_s);
      theirs.add(gpoeo_answer(made.trace), made.period_s);
    }
  }
  fmt::print("| {} | {} | {} |\n", name, ours.text(), theirs.text());
}

void print_synthetic() {
  fmt::print(
      "| job | ours: right | wrong | mean error | GPOEO's: right | wrong | mean error |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  SyntheticTraceOptions job;
  synthetic_row("iterations scatter by 1 %, noise 4 W", job);
  job.jitter = 0;
  synthetic_row("all iterations alike", job);
  job.jitter = 0.05;
  synthetic_row("iterations scatter by 5 %", job);
  job = {};
  job.noise_w = 15;
  synthetic_row("noise 15 W", job);
  job = {};
  job.average_s = 1;
  synthetic_row("power averaged over 1 s (Ampere)", job);
  job = {};
  job.busy = true;
  synthetic_row("GPU utilisation always 100 %", job);
  job = {};
  job.counter = false;
  synthetic_row("no energy counter", job);
  job = {};
  job.inner = 4;
  synthetic_row("four micro-batches an iteration", job);
}

void print_noise() {
  struct Kind {
    const char* name;
    NoiseKind kind;
  };
  constexpr Kind kKinds[] = {{"white", NoiseKind::kWhite},
                             {"red (AR 0.95)", NoiseKind::kRed},
                             {"pink", NoiseKind::kPink},
                             {"random walk", NoiseKind::kRandomWalk},
                             {"random bursts", NoiseKind::kBursts}};
  fmt::print(
      "| noise | recordings | ours answered | GPOEO's answered |\n| --- | ---: | ---: | ---: |\n");
  for (const Kind& kind : kKinds) {
    int runs = 0;
    int ours = 0;
    int theirs = 0;
    for (const double seconds : {30.0, 60.0, 90.0, 120.0}) {
      for (int seed = 0; seed < kNoiseSeeds; ++seed) {
        const NvmlTrace noise =
            noise_trace(kind.kind, seconds, kFresh + static_cast<std::uint64_t>(seed));
        ++runs;
        ours += our_answer(noise).has_value();
        theirs += gpoeo_answer(noise).has_value();
      }
    }
    fmt::print("| {} | {} | {} | {} |\n", kind.name, runs, ours, theirs);
  }
}

void print_short() {
  fmt::print(
      "| energy counter | recordings | ours answered (all would be wrong) | GPOEO's answered |\n"
      "| --- | ---: | ---: | ---: |\n");
  for (const bool counter : {true, false}) {
    int runs = 0;
    int ours = 0;
    int theirs = 0;
    for (int seed = 0; seed < 1000; ++seed) {
      SyntheticTraceOptions job;
      job.period_s = 0.005 * std::exp(std::log(60.0) * seed / 1000);
      job.jitter = seed % 5 * 0.002;
      job.seconds = 26;
      job.busy = seed % 2 == 0;
      job.counter = counter;
      job.seed = kFresh + static_cast<std::uint64_t>(seed);
      const NvmlTrace trace = synthetic_trace(job).trace;
      ++runs;
      ours += our_answer(trace).has_value();
      theirs += gpoeo_answer(trace).has_value();
    }
    fmt::print("| {} | {} | {} | {} |\n", counter ? "yes" : "no", runs, ours, theirs);
  }
}

// Mean time in ms between the iterations recorded beside it; "-" if there are none.
std::string true_period(const std::filesystem::path& data, const std::string& name) {
  std::ifstream file(data / "iterations" / name);
  std::string line;
  std::getline(file, line);
  double first = 0;
  double last = 0;
  int count = 0;
  while (std::getline(file, line)) {
    last = std::strtod(line.c_str() + line.find(',') + 1, nullptr);
    if (count++ == 0) first = last;
  }
  return count > 1 ? fmt::format("{:.1f}", (last - first) / (count - 1) * 1e3) : "-";
}

int print_recordings(const std::filesystem::path& data) {
  fmt::print("| recording | true ms | ours | why | GPOEO's |\n| --- | ---: | --- | --- | --- |\n");
  for (const char* kind : {"nvml", "nvml_samples"}) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(data / kind)) {
      paths.push_back(entry.path());
    }
    std::ranges::sort(paths);
    for (const auto& path : paths) {
      const auto trace = read_nvml_trace(path.string());
      if (!trace) {
        fmt::print(stderr, "spectrum_evidence: {}\n", trace.error().line());
        return 1;
      }
      const SpectralAnswer answer = detect_period(*trace);
      fmt::print("| {}/{} | {} | {} | {} | {} |\n", kind, path.stem().string(),
                 true_period(data, path.filename().string()),
                 answer.period ? fmt::format("{:.0f} ms", answer.period->value() * 1e3) : "refused",
                 answer.reason, gpoeo_words(*trace));
    }
  }
  return 0;
}

}  // namespace
}  // namespace hypermile

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: spectrum_evidence H200_DATA\n");
    return 2;
  }
  fmt::print("## Recordings of an H200\n\n");
  if (std::filesystem::exists(std::filesystem::path(argv[1]) / "nvml")) {
    if (const int failed = hypermile::print_recordings(argv[1]); failed != 0) return failed;
  } else {
    fmt::print("Not there when this page was made.\n");
  }
  fmt::print("\n## Made-up jobs, 0.8 to 10 s an iteration\n\n");
  hypermile::print_synthetic();
  fmt::print("\n## Made-up jobs, 5 to 300 ms an iteration\n\n");
  hypermile::print_short();
  fmt::print("\n## Noise\n\n");
  hypermile::print_noise();
  return 0;
}
