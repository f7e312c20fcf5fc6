// SPDX-License-Identifier: Apache-2.0
#include "record/run_digest.h"

#include <gtest/gtest.h>

#include "testing/example_events.h"
#include "testing/measured_runs.h"

namespace hypermile {
namespace {

const MeasuredGpu kCard{GpuUuid("GPU-1")};
const Setting kLower{.sm_clock = Mhz(1400)};

TEST(RunDigest, ComparesOnlyWindowsOfOnePhase) {
  RunDigest run(100, 100);

  for (const double wobble : {-0.001, 0.001}) {
    run.add(event_at(1, kCard.window({}, 0.1 + wobble, 300)));
    run.add(event_at(2, kCard.window(kLower, 0.102 + wobble, 250)));
    run.add(event_at(3, kCard.window(kLower, 0.01, 100, /*phase=*/1)));
  }

  const MeasuredPhase* main = run.gpus().front()->main_phase();
  ASSERT_NE(main, nullptr);
  const auto compared = main->compare(kLower);
  ASSERT_TRUE(compared);
  EXPECT_NEAR(compared->slowdown, 0.02, 1e-9);
  EXPECT_NEAR(compared->saved, 1 - 0.102 * 250 / (0.1 * 300), 1e-9);
  EXPECT_GT(compared->saved_error.value_or(0), 0);
  EXPECT_NEAR(main->saved_j().value_or(0), 20 * (30 - 25.5), 1e-6);
}

TEST(RunDigest, CallsKeptWhatAPhaseWasLastMeasuredAtWhileHolding) {
  RunDigest run(100, 100);

  run.add(event_at(1, kCard.decision({}, true)));
  run.add(event_at(2, kCard.window({}, 0.1, 300)));
  run.add(event_at(3, kCard.decision(kLower, true)));
  run.add(event_at(4, kCard.window(kLower, 0.102, 250)));
  EXPECT_FALSE(run.gpus().front()->main_phase()->kept);
  run.add(event_at(5, kCard.decision(kLower, false)));
  run.add(event_at(6, kCard.window(kLower, 0.102, 250)));

  EXPECT_EQ(run.gpus().front()->main_phase()->kept, kLower);
}

TEST(RunDigest, CountsWhatMetricsAreMadeOf) {
  RunDigest run(100, 100);

  run.add(event_at(1, kCard.decision({}, true)));
  run.add(event_at(1, kCard.decision(kLower, true)));
  run.add(event_at(1, kCard.decision(kLower, false)));
  run.add(event_at(1, Decision{kCard.gpu, "truth", kLower, "", {}, {}}));
  run.add(event_at(1, SettingChange{kCard.gpu, kLower, true, "", {}, {}, {}}));
  run.add(event_at(1, SettingChange{kCard.gpu, {}, false, "no", {}, {}, {}}));

  const WatchedGpu& gpu = *run.gpus().front();
  EXPECT_EQ(gpu.decisions.at("default"), 1u);
  EXPECT_EQ(gpu.decisions.at("probe"), 1u);
  EXPECT_EQ(gpu.decisions.at("keep"), 1u);
  EXPECT_EQ(gpu.accepted, 1u);
  EXPECT_EQ(gpu.refused, 1u);
  EXPECT_EQ(gpu.requested, kLower);
  EXPECT_TRUE(gpu.truth);
}

TEST(RunDigest, TakesEveryEventThereIs) {
  RunDigest run(100, 100);

  for (const Event& event : example_events()) run.add(event);

  EXPECT_EQ(run.events(), example_events().size());
  EXPECT_TRUE(run.end());
  EXPECT_FALSE(run.told().empty());
}

TEST(RunDigest, KeepsFirstAndLastLinesOfALongRun) {
  RunDigest run(100, 30);

  for (int i = 0; i < 1000; ++i) run.add(event_at(i, kCard.decision(kLower, true)));

  EXPECT_EQ(run.told().left_out(), 970u);
  EXPECT_EQ(run.told().head().front().time_s, 0);
  EXPECT_EQ(run.told().last().time_s, 999);
}

}  // namespace
}  // namespace hypermile
