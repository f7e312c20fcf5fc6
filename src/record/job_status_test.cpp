// SPDX-License-Identifier: Apache-2.0
#include "record/job_status.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

const Setting kLower{.sm_clock = Mhz(1500)};

Event event(EventBody body) {
  return {Instant(), std::move(body)};
}

Event at(double seconds, EventBody body) {
  return {Instant() + Seconds(seconds), std::move(body)};
}

Event window_of(const std::string& gpu, const Setting& setting, double seconds, double joules,
                double iterations) {
  Window window;
  window.setting = setting;
  window.iterations = iterations;
  window.time_per_iteration = Seconds(seconds);
  window.power = Watts(joules / seconds);
  window.energy_per_iteration = Joules(joules);
  return event(WindowEvent{GpuUuid(gpu), window, 42});
}

Event state_of(const std::string& state, const std::string& reason) {
  return event(StateChange{state, "", reason});
}

TEST(JobStatus, TellsStateTimePowerSavingAndBound) {
  JobStatus status(0.05);
  Sample sample;
  sample.power_average = Watts(300);

  status.take(event(Decision{GpuUuid("GPU-1"), "hypermile", kLower, "", 0.9, {}}));
  status.take(state_of("hold", "the least that keeps the bound"));
  status.take(window_of("GPU-1", {}, 0.100, 40, 100));
  status.take(window_of("GPU-1", kLower, 0.103, 30, 300));
  status.take(event(SampleEvent{GpuUuid("GPU-1"), sample}));

  status.take(at(50, Drift{}));

  // 300 iterations cost 10 J less each, of 400 that would have cost 40 J; 0.9 s more in 50 s.
  EXPECT_EQ(status.line(),
            "hold at sm=1500MHz: 103.0 ms, 300 W; whole job saved 3000 J (18.8 %), 1.8 % slower of "
            "5 % allowed");
  EXPECT_EQ(status.change(), "hold at sm=1500MHz: the least that keeps the bound");
}

TEST(JobStatus, ProbesThatCostEnergyCountAgainstTheSaving) {
  JobStatus status(std::nullopt);

  status.take(window_of("GPU-1", {}, 0.1, 40, 10));
  status.take(window_of("GPU-1", kLower, 0.2, 50, 10));

  EXPECT_NE(status.line().find("used 100 J more (12.5 %)"), std::string::npos) << status.line();
}

TEST(JobStatus, SumsTheGpusOfAJob) {
  JobStatus status(0.05);

  for (const char* gpu : {"GPU-1", "GPU-2"}) {
    status.take(window_of(gpu, {}, 0.1, 40, 10));
    status.take(window_of(gpu, kLower, 0.1, 30, 10));
  }

  EXPECT_NE(status.line().find("saved 200 J (12.5 %)"), std::string::npos) << status.line();
}

TEST(JobStatus, ClaimsNothingWithoutADefaultOrFromWindowsThatMayNotBeUsed) {
  JobStatus status(0.05);
  Event spoiled = window_of("GPU-1", {}, 0.1, 40, 10);
  std::get<WindowEvent>(spoiled.body).window.unusable = "too short";

  status.take(spoiled);
  status.take(window_of("GPU-1", kLower, 0.1, 30, 10));

  EXPECT_EQ(status.line(), "no iterations seen yet: 100.0 ms; 5 % allowed");
}

TEST(JobStatus, CallsForALineWhereTheStateChangesAndNotForEveryReason) {
  JobStatus status(0.05);

  EXPECT_FALSE(status.take(state_of("warm_up", "the job's iterations are not known yet")));
  EXPECT_FALSE(status.take(state_of("warm_up", "asking for the GPUs")));
  EXPECT_TRUE(status.take(state_of("baseline", "what the default costs")));
  EXPECT_FALSE(status.take(event(ProgressEvent{42, "idle", "none", {}, false, {}, {}, {}, {}})));
  EXPECT_TRUE(status.take(state_of("left_alone", "too short")));
  EXPECT_EQ(status.change(), "left alone: too short");
}

TEST(JobStatus, LooksAtTheDefaultOnTheWayAreNoNews) {
  JobStatus status(0.05);
  const auto decide = [&](const Setting& setting) {
    status.take(event(Decision{GpuUuid("GPU-1"), "hypermile", setting, "", 0.9, {}}));
  };
  status.take(state_of("warm_up", ""));
  status.take(state_of("baseline", "what the default costs"));
  decide(kLower);

  EXPECT_TRUE(status.take(state_of("hold", "")));
  EXPECT_FALSE(status.take(state_of("baseline", "the default again, against drift")));
  EXPECT_FALSE(status.take(state_of("hold", "")));
  decide({.sm_clock = Mhz(1400)});
  EXPECT_TRUE(status.take(state_of("hold", ""))) << "another setting";
  EXPECT_TRUE(status.take(state_of("drift", "the job has changed")));
  EXPECT_TRUE(status.take(state_of("baseline", "what the default costs")));
}

TEST(JobStatus, WithoutAControllerProgressIsTheState) {
  JobStatus status(std::nullopt);

  EXPECT_TRUE(status.take(event(ProgressEvent{42, "locked", "ticks", 0, false, {}, {}, {}, 8})));
  Event window = window_of("GPU-1", {}, 0.01, 4, 80);
  EXPECT_FALSE(status.take(window));

  EXPECT_EQ(status.change(), "watching: iterations are known from ticks");
  EXPECT_EQ(status.line(), "watching: 80.0 ms") << "of an optimizer step, not of a micro-batch";
}

TEST(JobStatus, GoingToAndFroBetweenTheSettingsOfAMixIsNoNews) {
  JobStatus status(0.05);
  const auto hold = [&](const Setting& setting) {
    status.take(event(Decision{GpuUuid("GPU-1"), "hypermile", setting, "", 0.9, {{"share", 0.5}}}));
    return status.take(state_of("hold", "half of the time each"));
  };
  status.take(state_of("warm_up", ""));

  EXPECT_TRUE(hold(kLower));
  EXPECT_FALSE(hold({.sm_clock = Mhz(1400)}));
  EXPECT_FALSE(hold(kLower));
}

}  // namespace
}  // namespace hypermile
