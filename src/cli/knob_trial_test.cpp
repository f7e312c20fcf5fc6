// SPDX-License-Identifier: Apache-2.0
//
// Which step a trial takes; tests/attack/knobs tries it on the NVML stand-in with every fault.
#include "cli/knob_trial.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/terminal_text.h"

namespace hypermile {
namespace {

Capabilities card() {
  Capabilities can;
  can.sm_clocks = {Mhz(1980), Mhz(1965), Mhz(1950), Mhz(345)};
  can.memory_clocks = {Mhz(3201)};
  can.power_limit_range = Range{Watts(200), Watts(700)};
  can.sm_clock_lock = can.memory_clock_lock = can.power_limit_set = Support::kYes;
  return can;
}

Sample reads(double mhz, double busy, double watts) {
  Sample sample;
  sample.sm_clock = Mhz(mhz);
  sample.memory_clock = Mhz(3201);
  sample.gpu_utilization = busy;
  sample.requested_power_limit = Watts(watts);
  return sample;
}

TEST(OneStepDown, IsTheNextClockBelowTheHighestOnAnIdleCard) {
  EXPECT_EQ(one_step_down(Knob::kSmClock, card(), reads(345, 0, 700)), 1965);
}

TEST(OneStepDown, IsTheNextClockBelowWhatABusyCardReads) {
  EXPECT_EQ(one_step_down(Knob::kSmClock, card(), reads(1965, 0.9, 700)), 1950);
}

TEST(OneStepDown, IsFiveWattsWithinTheRange) {
  EXPECT_EQ(one_step_down(Knob::kPowerLimit, card(), reads(345, 0, 700)), 695);
  EXPECT_EQ(one_step_down(Knob::kPowerLimit, card(), reads(345, 0, 203)), std::nullopt);
}

TEST(OneStepDown, IsNothingWhereTheCardListsNoLowerValue) {
  EXPECT_EQ(one_step_down(Knob::kMemoryClock, card(), reads(345, 0, 700)), std::nullopt);
  EXPECT_EQ(one_step_down(Knob::kSmClock, card(), reads(345, 0.9, 700)), std::nullopt);
  Capabilities without = card();
  without.sm_clock_lock = Support::kNo;
  EXPECT_EQ(one_step_down(Knob::kSmClock, without, reads(1980, 0.9, 700)), std::nullopt);
}

TEST(CardTrial, FitsATerminal) {
  CardTrial trial;
  trial.identity.name = "NVIDIA H200";
  KnobTrial knob;
  knob.knob = Knob::kSmClock;
  knob.before = knob.asked = knob.seen = knob.after = 12345;
  knob.set_took = knob.seen_after = knob.restore_took = Seconds(9.9999);
  knob.note = "the clock was not above this value before: run it while the GPU computes";
  trial.knobs = {knob};

  std::istringstream lines(to_text(trial));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(columns(line), 80U) << line;
}

}  // namespace
}  // namespace hypermile
