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

TEST(RunDigest, LeavesOutGpusThatNoMachineHas) {
  RunDigest run(100, 100);
  run.add(event_at(1, kCard.window({}, 0.1, 300)));

  // Each name cost a search through all others and their series of points.
  for (int i = 0; i < 300'000; ++i) {
    const GpuUuid gpu("GPU-of-a-liar-" + std::to_string(i));
    run.add(event_at(1, Throttle{gpu, {}}));
    if (i < 1000) run.add(event_at(1, MeasuredGpu{gpu}.window({}, 0.1, 300)));
  }
  run.add(event_at(2, kCard.window(kLower, 0.102, 250)));

  EXPECT_EQ(run.gpus().size(), kMostWatchedGpus);
  EXPECT_LE(run.figures().phases().size(), kMostWatchedGpus);
  EXPECT_NE(run.figures().main_phase(kCard.gpu), nullptr);
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

std::vector<std::string> told(const RunDigest& run) {
  std::vector<std::string> lines;
  run.told().for_each([&](const ToldEvent& each) { lines.push_back(each.text); });
  return lines;
}

TEST(RunDigest, TellsAReasonOnceAndNamesASettingOnce) {
  RunDigest run(100, 100);
  const std::string reason = "sm=1400MHz may save more: 3 % slower";

  run.add(event_at(1, Decision{kCard.gpu, "p", kLower, reason, {}, {{"exploring", 1}}}));
  run.add(event_at(1, StateChange{"search", "baseline", reason}));
  run.add(event_at(2, StateChange{"search", "search", reason}));

  EXPECT_EQ(told(run), (std::vector<std::string>{"try sm=1400MHz, which may save more: 3 % slower",
                                                 "baseline → search"}));
}

TEST(RunDigest, AStateThatStaysHasNoArrow) {
  RunDigest run(100, 100);

  run.add(event_at(1, StateChange{"warm_up", "", "no iterations yet"}));
  run.add(event_at(2, StateChange{"warm_up", "warm_up", "asking for the GPUs"}));

  EXPECT_EQ(told(run), (std::vector<std::string>{"warm up: no iterations yet",
                                                 "warm up: asking for the GPUs"}));
}

TEST(RunDigest, ARunOnTheStandInIsNotMeasured) {
  for (const char* driver : {"580.95.05 (stand-in)", "simulated", "replay"}) {
    RunDigest run(100, 100);
    GpuIdentity card;
    card.uuid = kCard.gpu;
    card.driver_version = driver;
    run.add(event_at(0, GpuEvent{card}));
    EXPECT_TRUE(run.simulated()) << driver;
  }
  RunDigest silicon(100, 100);
  GpuIdentity card;
  card.uuid = kCard.gpu;
  card.driver_version = "580.95.05";
  silicon.add(event_at(0, GpuEvent{card}));
  EXPECT_FALSE(silicon.simulated());
}

}  // namespace
}  // namespace hypermile
