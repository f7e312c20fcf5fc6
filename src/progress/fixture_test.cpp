// SPDX-License-Identifier: Apache-2.0
//
// The detector on the first one or two seconds of real streams, which come with the source.
#include <gtest/gtest.h>

#include <cstdlib>

#include "evidence/progress/detector_trial.h"
#include "progress/period.h"
#include "progress/recording.h"
#include "progress/recording_summary.h"

namespace hypermile {
namespace {

LabelledStream fixture(const std::string& name) {
  const char* source = std::getenv("HYPERMILE_SOURCE_DIR");
  const std::string folder = std::string(source ? source : ".") + "/tests/fixtures/launches";
  auto stream = load_recording(folder, name);
  EXPECT_TRUE(stream.ok()) << stream.error().line();
  return stream.ok() ? *std::move(stream) : LabelledStream{};
}

class Fixtures : public ::testing::TestWithParam<const char*> {};

TEST_P(Fixtures, LocksCorrectlyFromTheStartAndKeepsTheLock) {
  const LabelledStream stream = fixture(GetParam());

  const DetectorTrial trial = try_detector(stream, 0);

  ASSERT_TRUE(trial.lock_after.has_value());
  EXPECT_FALSE(trial.wrong);
  EXPECT_NEAR(trial.ratio_at_lock, 1, 0.03);
  EXPECT_LE(std::abs(trial.worst_count), 2);
  EXPECT_EQ(trial.breaks, 0U);
  const double period = stream.mean_period().value();
  EXPECT_LE(trial.lock_after->value(), std::max(0.65, 10 * period));
}

TEST_P(Fixtures, ReportsEachIterationOnceAndInOrder) {
  const LabelledStream stream = fixture(GetParam());

  const DetectorTrace told = trace(stream, 0);

  ASSERT_GT(told.boundaries.size(), 5U);
  EXPECT_EQ(told.boundaries.front().iterations, 0);
  for (std::size_t i = 1; i < told.boundaries.size(); ++i) {
    EXPECT_GT(told.boundaries[i].launch, told.boundaries[i - 1].launch);
    EXPECT_GE(told.boundaries[i].time, told.boundaries[i - 1].time);
    EXPECT_EQ(told.boundaries[i].iterations, 1);
  }
}

// A start-up of 2443 launches in 1.7 s, then one graph per step of 14 ms; the host dispatches ten
// and blocks.
TEST(JaxTransformer, IsLockedWithinASecondAndCountedExactly) {
  const LabelledStream stream = fixture("jax_transformer");

  const DetectorTrace told = trace(stream, 0);

  ASSERT_EQ(told.locks.size(), 1U);
  EXPECT_LE((told.locks[0].lock.time - stream.gpu_begins.front()).value(), 1);
  EXPECT_EQ(told.locks[0].pattern.launches_per_iteration, 1);
  EXPECT_TRUE(told.breaks.empty());
  EXPECT_NEAR(summarize_recording(stream.launches).iterations, 715, 2);
}

// Two launches a time step repeat far more evenly than the steps of the training do, and for each
// of three sequence lengths other kernels are chosen. Six steps of warm-up are not listed.
TEST(MixedLengths, AreFollowedFromTheFirstSecondOnAndCountedExactly) {
  const char* source = std::getenv("HYPERMILE_SOURCE_DIR");
  const std::string path =
      std::string(source ? source : ".") + "/tests/fixtures/launches/mixed_lengths_lstm";
  const auto launches = read_launches(path + ".csv.gz");
  const auto begins = read_iterations(path + ".iterations.csv");
  ASSERT_TRUE(launches.ok() && begins.ok());
  LabelledStream stream;
  stream.launches = *launches;
  stream.gpu_begins = *begins;

  const DetectorTrace told = trace(stream, 0);

  ASSERT_EQ(told.locks.size(), 1U);
  EXPECT_LE((told.locks[0].lock.time - stream.gpu_begins.front()).value(), 1);
  EXPECT_TRUE(told.breaks.empty());
  const double steps = static_cast<double>(stream.gpu_begins.size()) + 6;
  EXPECT_NEAR(summarize_recording(stream.launches).iterations, steps, 2);
}

INSTANTIATE_TEST_SUITE_P(H200, Fixtures,
                         ::testing::Values("mlp_tiny", "full_cuda_graph_mlp", "gin_small_batches",
                                           "resnet50_bf16_b256", "gpt2_ga8_bf16"),
                         [](const auto& each) { return std::string(each.param); });

TEST(GradientAccumulation, IsReportedAsTwoLevels) {
  const LabelledStream stream = fixture("gpt2_ga8_bf16");

  const DetectorTrace told = trace(stream, 0);
  const DetectorTrial trial = try_detector(stream, 0);

  ASSERT_EQ(told.levels.size(), 1U);
  ASSERT_EQ(told.levels[0].outer.size(), 1U);
  EXPECT_EQ(told.levels[0].outer[0].inner, 8U);
  EXPECT_EQ(told.levels[0].outer[0].level, 1U);
  ASSERT_TRUE(trial.level_after.has_value());
  EXPECT_LE(*trial.level_after, 6);
  ASSERT_GE(told.outer.size(), 2U);
  EXPECT_EQ(told.outer[0].iterations, 0);
  EXPECT_EQ(told.outer[1].iterations, 1);
  EXPECT_EQ(told.outer[1].pattern, (PatternId{0, 1}));
  EXPECT_NEAR((told.outer[1].time - told.outer[0].time).value(), 0.465, 0.1);
}

TEST(HostFarAhead, PeriodOfAGraphLoopIsTakenAfterWaits) {
  const LabelledStream stream = fixture("full_cuda_graph_mlp");
  const auto& begins = stream.gpu_begins;
  const double truth = (begins.back() - begins.front()).value() / double(begins.size() - 1);

  const auto period = estimate_period(trace(stream, 0).boundaries);

  ASSERT_TRUE(period.ok()) << period.error().line();
  EXPECT_NEAR(period->per_iteration.value() / truth, 1, 0.01);
}

}  // namespace
}  // namespace hypermile
