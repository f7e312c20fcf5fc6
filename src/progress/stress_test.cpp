// SPDX-License-Identifier: Apache-2.0
//
// Real streams with the disturbances that real jobs show. The streams come with the source; where
// whole recordings exist they are used too, with more seeds. At least 95 of 100 runs of each row
// must lock at the right level.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "evidence/progress/detector_trial.h"
#include "evidence/progress/made_streams.h"
#include "evidence/progress/stress_rows.h"

namespace hypermile {
namespace {

bool whole_recordings() {
  return std::filesystem::exists(recordings_folder());
}

const std::vector<LabelledStream>& streams() {
  static const std::vector<LabelledStream> loaded = [] {
    const char* source = std::getenv("HYPERMILE_SOURCE_DIR");
    const std::string folder =
        whole_recordings() ? recordings_folder()
                           : std::string(source ? source : ".") + "/tests/fixtures/launches";
    std::vector<LabelledStream> found;
    for (const std::string& name : stressed_names()) {
      auto stream = load_recording(folder, name);
      EXPECT_TRUE(stream.ok()) << stream.error().line();
      if (stream) found.push_back(*std::move(stream));
    }
    return found;
  }();
  return loaded;
}

class Stress : public ::testing::TestWithParam<StressRow> {};

TEST_P(Stress, LocksAtTheRightLevel) {
  const StressRow& row = GetParam();
  constexpr std::size_t kSeeds = 5;

  const StressResult result = stress(row, streams(), kSeeds);

  // The fixtures end before the one second that poorer patterns need.
  const double share = whole_recordings() ? 0.95 : 0.75;
  EXPECT_GE(static_cast<double>(result.right), share * static_cast<double>(result.runs))
      << result.first_trouble;
  EXPECT_LE(static_cast<double>(result.wrong), 0.05 * static_cast<double>(result.runs))
      << result.first_trouble;
  EXPECT_LE(result.breaks, result.runs) << "more than one false break per run";
}

INSTANTIATE_TEST_SUITE_P(Edits, Stress, ::testing::ValuesIn(stress_rows()),
                         [](const auto& each) { return each.param.id; });

TEST(Aperiodic, IsAlmostNeverLocked) {
  double share = 0;
  double runs = 0;
  for (const AperiodicKind& kind : aperiodic_kinds()) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      Random random(derive_seed(seed, kind.name.c_str()));
      const LabelledStream stream = kind.make(Seconds(4), random);
      share += try_detector(stream, 0).locked_share;
      ++runs;
    }
  }

  EXPECT_LT(share / runs, 0.02);
}

TEST(LongIterations, LayersAreNeverTakenForIterations) {
  const std::vector<Transformer> shapes = {{},
                                           {.layers = 96,
                                            .forward_launches = 15,
                                            .backward_launches = 30,
                                            .forward = Seconds(1),
                                            .backward = Seconds(2)},
                                           {.layers = 48,
                                            .forward_launches = 60,
                                            .backward_launches = 110,
                                            .forward = Seconds(2),
                                            .backward = Seconds(4)},
                                           {.layers = 126,
                                            .forward_launches = 12,
                                            .backward_launches = 24,
                                            .forward = Seconds(5),
                                            .backward = Seconds(10)}};
  for (const Transformer& shape : shapes) {
    Random random(3);
    const LabelledStream stream = make_transformer(shape, random);
    for (const double start : {0.0, 0.01, 0.04, 0.13, 0.22}) {
      const double launch = start * static_cast<double>(stream.launches.size());

      const DetectorTrial trial = try_detector(stream, static_cast<std::uint64_t>(launch));

      EXPECT_FALSE(trial.wrong) << shape.layers << " layers from " << start;
      EXPECT_TRUE(trial.lock_after.has_value()) << shape.layers << " layers from " << start;
      EXPECT_EQ(trial.breaks, 0U);
    }
  }
}

TEST(Recurrent, TimeStepsAreNotTakenForIterations) {
  for (const auto& [least, most] : {std::pair<std::size_t, std::size_t>{100, 100}, {20, 30}}) {
    Random random(4);
    const LabelledStream stream = make_recurrent(least, most, 300, random);

    const DetectorTrial trial = try_detector(stream, 777);

    ASSERT_TRUE(trial.lock_after.has_value());
    EXPECT_FALSE(trial.wrong);
  }
}

TEST(GraphLoops, AreLockedWithFewKernelsOrNone) {
  for (const std::size_t kernels : {0U, 1U, 5U, 12U}) {
    for (const double period_ms : {2.0, 10.0, 40.0}) {
      Random random(5);
      const auto iterations = static_cast<std::size_t>(4000 / period_ms);
      const LabelledStream stream =
          make_graph_loop(kernels, milliseconds(period_ms), iterations, random);

      const DetectorTrial trial = try_detector(stream, 3);

      ASSERT_TRUE(trial.lock_after.has_value()) << kernels << " kernels, " << period_ms << " ms";
      EXPECT_FALSE(trial.wrong);
      // A loop of nothing but graphs needs sixteen launches before the first analysis.
      EXPECT_LE(trial.lock_after->value(), std::max(0.65, 18e-3 * period_ms));
    }
  }
}

TEST(GraphLoops, LoggingBetweenGraphsIsNotTakenForTheIteration) {
  Random random(6);
  LabelledStream stream = make_graph_loop(0, milliseconds(3), 1500, random);
  LabelledStream logged;
  for (std::size_t i = 0; i < stream.launches.size(); ++i) {
    if (i % 20 == 19) {
      for (std::uint32_t k = 1; k <= 2; ++k) {
        logged.launches.push_back({stream.launches[i].time, k, 0, 0});
      }
    }
    logged.starts.push_back(logged.launches.size());
    logged.launches.push_back(stream.launches[i]);
  }

  const DetectorTrial trial = try_detector(logged, 5);

  ASSERT_TRUE(trial.lock_after.has_value());
  EXPECT_FALSE(trial.wrong) << trial.ratio_at_lock;
}

}  // namespace
}  // namespace hypermile
