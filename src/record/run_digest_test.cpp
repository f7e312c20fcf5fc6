// SPDX-License-Identifier: Apache-2.0
#include "record/run_digest.h"

#include <gtest/gtest.h>

#include "testing/example_events.h"
#include "testing/measured_runs.h"

namespace hypermile {
namespace {

const MeasuredGpu kCard{GpuUuid("GPU-1")};
const Setting kLower{.sm_clock = Mhz(1400)};

TEST(RunDigest, HoldsTheFiguresOfItsEvents) {
  RunDigest run(100, 100);

  run.add(event_at(1, kCard.window({}, 0.1, 300)));
  run.add(event_at(2, kCard.window(kLower, 0.102, 250)));

  EXPECT_NEAR(run.figures().job().saved_j->value, 10 * (30 - 25.5), 1e-9);
}

TEST(RunDigest, PassesOverTheGpuOfAWindowThatHasNone) {
  RunDigest run(100, 100);

  run.add(event_at(1, MeasuredGpu{}.window({}, 0.1, 300)));

  EXPECT_TRUE(run.gpus().empty());
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
