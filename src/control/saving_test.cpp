// SPDX-License-Identifier: Apache-2.0
#include "control/saving.h"

#include <gtest/gtest.h>

#include "control/control_text.h"

namespace hypermile {
namespace {

const Setting kLow{.sm_clock = Mhz(1410)};

MeasuredSetting measured(const Setting& setting, double seconds, double joules, double iterations) {
  MeasuredSetting result;
  result.setting = setting;
  result.iterations = iterations;
  // Two Windows that differ a little.
  for (const double off : {0.999, 1.001}) {
    result.time.add(seconds * off, iterations / 2, std::nullopt);
    result.energy.add(joules * off, iterations / 2, std::nullopt);
  }
  return result;
}

PhaseControl searched() {
  PhaseControl phase;
  phase.policy = "hypermile";
  phase.held = true;
  phase.kept = kLow;
  phase.measured = {measured({}, 0.1, 50, 200), measured(kLow, 0.104, 45, 1000),
                    measured({.sm_clock = Mhz(1200)}, 0.12, 52, 30)};
  return phase;
}

TEST(Saving, CountsEveryIterationOffTheDefaultAndNoOther) {
  const auto saving = measured_saving(searched());

  ASSERT_TRUE(saving.has_value());
  EXPECT_NEAR(saving->joules, 1000 * 5 - 30 * 2, 1e-6) << "a probe that cost energy counts too";
  EXPECT_DOUBLE_EQ(saving->iterations, 1030);
  EXPECT_GT(saving->interval95.value_or(0), 0);
}

TEST(Saving, IsNotClaimedWithoutADefaultToCompareWith) {
  PhaseControl phase = searched();
  phase.measured.erase(phase.measured.begin());

  EXPECT_FALSE(measured_saving(phase).has_value());
  EXPECT_FALSE(energy_saved(phase, kLow).has_value());
}

TEST(Saving, OfASettingIsAgainstTheDefaultWithAnInterval) {
  const auto saved = energy_saved(searched(), kLow);
  const auto lost = time_lost(searched(), kLow);

  ASSERT_TRUE(saved && lost);
  EXPECT_NEAR(saved->value, 0.10, 1e-9);
  EXPECT_NEAR(lost->value, 0.04, 1e-9);
  EXPECT_GT(saved->interval95.value_or(0), 0);
}

TEST(ControlText, TellsWhatWasKeptTriedAndSaved) {
  ControlOutcome outcome;
  outcome.summary.state = ControlState::kReleased;
  outcome.summary.gpus = {GpuUuid("GPU-0")};
  outcome.summary.setting_changes = 3;
  outcome.summary.phases = {searched()};

  const std::string text = to_text(outcome);

  EXPECT_NE(text.find("clocks of 1 GPU(s) were changed 3 times and given back"), text.npos) << text;
  EXPECT_NE(text.find("kept sm=1410MHz"), text.npos);
  EXPECT_NE(text.find("saved 4940"), text.npos);
  EXPECT_NE(text.find("tried: sm=1200MHz"), text.npos);
}

TEST(ControlText, ARefusalSaysWhyAndWhatIsOnlyExpected) {
  ControlOutcome outcome;
  outcome.summary.state = ControlState::kRefused;
  outcome.summary.reason = "user 60001 may not change GPU-0";
  outcome.expected = Expectation{0.03, 0.08, 0.15, 0.03, kLow};

  const std::string text = to_text(outcome);

  EXPECT_NE(text.find("clocks were not changed: user 60001 may not change GPU-0"), text.npos);
  EXPECT_NE(text.find("not tried on this job: other jobs on such cards saved 3 to 15 %"),
            text.npos);
  EXPECT_EQ(text.find(" saved 0"), text.npos);
}

TEST(ControlText, AGpuThatCouldNotBeGivenBackIsShouted) {
  ControlOutcome outcome;
  outcome.summary.setting_changes = 1;
  outcome.summary.restored = false;

  EXPECT_NE(to_text(outcome).find("could NOT all be given back"), std::string::npos);
}

}  // namespace
}  // namespace hypermile
