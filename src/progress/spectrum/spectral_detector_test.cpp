// SPDX-License-Identifier: Apache-2.0
#include "progress/spectrum/spectral_detector.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "evidence/spectrum/synthetic_trace.h"
#include "progress/spectrum/nvml_trace_file.h"

namespace hypermile {
namespace {

struct Score {
  int runs = 0, right = 0, wrong = 0;
};

Score score(SyntheticTraceOptions job, std::initializer_list<double> periods, int seeds) {
  Score result;
  for (const double period : periods) {
    for (int seed = 0; seed < seeds; ++seed) {
      job.period_s = period;
      job.seconds = std::max(40.0, 5 * period);
      job.seed = static_cast<std::uint64_t>(seed) + 100;
      const SyntheticTrace made = synthetic_trace(job);
      const SpectralAnswer answer = detect_period(made.trace);
      ++result.runs;
      if (!answer.period) continue;
      const bool right = std::abs(answer.period->value() / made.period_s - 1) <= 0.03;
      ++(right ? result.right : result.wrong);
    }
  }
  return result;
}

TEST(SpectralDetector, AnswersPeriodsFromAFifthToTenSecondsWithinThreePercent) {
  const Score counted = score({}, {0.8, 0.83, 1.0, 1.3, 2.5, 5.0, 10.0}, 12);

  EXPECT_EQ(counted.wrong, 0);
  EXPECT_GE(counted.right, counted.runs * 9 / 10);
}

TEST(SpectralDetector, AnswersFromUtilisationWithoutACounter) {
  SyntheticTraceOptions job;
  job.counter = false;
  const Score uncounted = score(job, {0.8, 1.3, 3.7, 7.3}, 12);

  EXPECT_EQ(uncounted.wrong, 0);
  EXPECT_GE(uncounted.right, uncounted.runs * 9 / 10);
}

TEST(SpectralDetector, RefusesIfOnlyPowerRepeats) {
  SyntheticTraceOptions job;
  job.counter = false;
  job.busy = true;
  SyntheticTrace made = synthetic_trace(job);
  made.trace.memory_percent.clear();

  const SpectralAnswer answer = detect_period(made.trace);

  EXPECT_FALSE(answer.period);
  EXPECT_NE(answer.reason.find("alias"), std::string::npos) << answer.reason;
}

TEST(SpectralDetector, NeverTakesAnAliasOfAShortPeriodForTheTruth) {
  for (int seed = 0; seed < 150; ++seed) {
    SyntheticTraceOptions job;
    job.period_s = 0.005 * std::exp(std::log(60.0) * seed / 150);
    job.jitter = seed % 5 * 0.002;
    job.seconds = 20;
    job.busy = seed % 2 == 0;
    job.seed = static_cast<std::uint64_t>(seed);

    const SpectralAnswer answer = detect_period(synthetic_trace(job).trace);

    EXPECT_FALSE(answer.period) << job.period_s << " read as " << answer.period->value();
  }
}

TEST(SpectralDetector, RefusesWhatAveragingLeavesOfAVeryShortPeriod) {
  // A period of 8 ms: about three fit into one sample of power, 12.5 into one step of the counter.
  SyntheticTraceOptions job;
  job.period_s = 0.005 * std::exp(std::log(60.0) * 115 / 1000);
  job.jitter = 0;
  job.seconds = 26;
  for (const std::uint64_t seed : {90115U, 600115U}) {
    job.seed = seed;

    const SpectralAnswer answer = detect_period(synthetic_trace(job).trace);

    EXPECT_FALSE(answer.period) << answer.period->value();
  }
}

TEST(SpectralDetector, NeverAnswersOnNoise) {
  for (const NoiseKind kind : {NoiseKind::kWhite, NoiseKind::kRed, NoiseKind::kPink,
                               NoiseKind::kRandomWalk, NoiseKind::kBursts}) {
    for (int seed = 0; seed < 40; ++seed) {
      const NvmlTrace noise =
          noise_trace(kind, seed % 2 == 0 ? 30 : 60, static_cast<std::uint64_t>(seed));
      EXPECT_FALSE(detect_period(noise).period) << static_cast<int>(kind) << " " << seed;
    }
  }
}

TEST(SpectralDetector, RefusesARandomWalkThatReturnsThreeTimes) {
  // This walk repeats 3.6 times every 8.3 s with an autocorrelation of 0.77; one in about 10,000
  // does.
  EXPECT_FALSE(detect_period(noise_trace(NoiseKind::kRandomWalk, 30, 70144)).period);

  SyntheticTraceOptions job;
  job.period_s = 8.3;
  job.seconds = 30;
  EXPECT_TRUE(detect_period(synthetic_trace(job).trace).period)
      << "a real job's repetitions are similar";
}

TEST(SpectralDetector, SaysWhyItRefuses) {
  EXPECT_EQ(detect_period({}).reason, "there are too few samples of power");

  NvmlTrace flat;
  for (int i = 0; i < 300; ++i) flat.power_w.push_back({i * 0.1, 200});
  EXPECT_EQ(detect_period(flat).reason, "power does not vary");

  SyntheticTraceOptions job;
  job.seconds = 3;
  EXPECT_EQ(detect_period(synthetic_trace(job).trace).reason,
            "a recording of 2.9 s is too short: give at least 6 s");
}

// Iterations in the recordings take 6 to 470 ms, too short for these sensors.
TEST(SpectralDetector, RefusesEveryRecordingOfShortIterations) {
  const char* set = std::getenv("HYPERMILE_H200_DATA");
  const char* tree = std::getenv("HYPERMILE_SOURCE_DIR");
  const std::filesystem::path folder =
      set != nullptr ? set : std::string(tree != nullptr ? tree : ".") + "/../shared/data/h200";
  if (!std::filesystem::exists(folder / "nvml")) GTEST_SKIP() << "needs HYPERMILE_H200_DATA";
  for (const char* kind : {"nvml", "nvml_samples"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder / kind)) {
      const auto trace = read_nvml_trace(entry.path().string());
      ASSERT_TRUE(trace.ok()) << trace.error().line();

      EXPECT_FALSE(detect_period(*trace).period) << entry.path();
    }
  }
}

}  // namespace
}  // namespace hypermile
