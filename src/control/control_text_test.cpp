// SPDX-License-Identifier: Apache-2.0
#include "control/control_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "testing/measured_runs.h"

namespace hypermile {
namespace {

const MeasuredGpu kGpu{GpuUuid("GPU-0")};
const Setting kLow{.sm_clock = Mhz(1410)};

PhaseControl searched() {
  PhaseControl phase;
  phase.process = 42;
  phase.policy = "hypermile";
  phase.held = true;
  phase.kept = kLow;
  return phase;
}

RunFigures measured() {
  RunFigures figures;
  figures.add(event_at(1, kGpu.window({}, 0.1, 500)));
  figures.add(event_at(2, kGpu.window({.sm_clock = Mhz(1200)}, 0.12, 450)));
  figures.add(event_at(3, kGpu.decision(kLow, false)));
  figures.add(event_at(4, kGpu.window(kLow, 0.104, 432.7)));
  return figures;
}

TEST(ControlText, TellsWhatWasKeptTriedAndSaved) {
  ControlOutcome outcome;
  outcome.summary.state = ControlState::kReleased;
  outcome.summary.gpus = {GpuUuid("GPU-0")};
  outcome.summary.setting_changes = 3;
  outcome.summary.phases = {searched()};

  const std::string text = to_text(outcome, measured());

  EXPECT_NE(text.find("clocks of 1 GPU were changed 3 times and given back"), text.npos) << text;
  EXPECT_NE(text.find("kept sm=1410MHz"), text.npos);
  EXPECT_NE(text.find("at the kept setting, per iteration: 10.0 % energy saved, 4.0 % slower"),
            text.npos);
  EXPECT_NE(text.find("      tried sm=1200MHz: used 8.0 % more energy, 20.0 % slower\n"),
            text.npos);
}

TEST(ControlText, SpeaksOfOneChangeAsOne) {
  ControlOutcome outcome;
  outcome.summary.state = ControlState::kReleased;
  outcome.summary.setting_changes = 1;

  EXPECT_NE(to_text(outcome, measured()).find("were changed once and given back"),
            std::string::npos);
}

TEST(ControlText, ARefusalSaysWhyAndWhatIsOnlyExpected) {
  ControlOutcome outcome;
  outcome.summary.state = ControlState::kRefused;
  outcome.summary.reason = "user 60001 may not change GPU-0";
  outcome.expected = Expectation{0.03, 0.08, 0.15, 0.03, kLow};

  const std::string text = to_text(outcome, {});

  EXPECT_NE(text.find("clocks were not changed: user 60001 may not change GPU-0"), text.npos);
  EXPECT_NE(text.find("not tried on this job: other jobs on such cards saved 3 to 15 %"),
            text.npos);
  EXPECT_EQ(text.find(" saved 0"), text.npos);
}

TEST(ControlText, AGpuThatCouldNotBeGivenBackIsShouted) {
  ControlOutcome outcome;
  outcome.summary.setting_changes = 1;
  outcome.summary.restored = false;

  EXPECT_NE(to_text(outcome, {}).find("could NOT all be given back"), std::string::npos);
}

TEST(ControlJson, HasTheFiguresOfEachPhase) {
  ControlOutcome outcome;
  outcome.summary.phases = {searched()};

  const nlohmann::json phase = to_json(outcome, measured()).at("phases").at(0);

  EXPECT_EQ(phase.at("measured").size(), 3U);
  EXPECT_EQ(phase.at("kept_measured").at("setting").at("sm_mhz"), 1410);
  EXPECT_NEAR(phase.at("kept_measured").at("time_change").get<double>(), 0.04, 1e-12);
}

}  // namespace
}  // namespace hypermile
