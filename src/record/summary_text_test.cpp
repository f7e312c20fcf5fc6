// SPDX-License-Identifier: Apache-2.0
#include "record/summary_text.h"

#include <gtest/gtest.h>

namespace hypermile {
namespace {

const GpuUuid kGpu("GPU-7");
const Setting kKept{.sm_clock = Mhz(1800)};
const Setting kTried{.sm_clock = Mhz(1200)};

Event at(double seconds, EventBody body) {
  return {Instant() + Seconds(seconds), std::move(body)};
}

WindowEvent measured(const Setting& setting, double time_s, double power_w) {
  Window window;
  window.setting = setting;
  window.duration = Seconds(10 * time_s);
  window.iterations = 10;
  window.time_per_iteration = Seconds(time_s);
  window.power = Watts(power_w);
  return {kGpu, window, 42};
}

Decision decided(const Setting& setting, bool exploring) {
  return {kGpu, "hypermile", setting, "", 0.9, {{"exploring", exploring ? 1.0 : 0.0}}};
}

// A default of 0.1 s and 30 J, twice; a probe; two Windows at what is kept.
RunDigest searched() {
  RunDigest run(8, 8);
  GpuIdentity identity;
  identity.uuid = kGpu;
  identity.name = "NVIDIA H200";
  identity.index = 3;
  run.add(at(100, RunStart{}));
  run.add(at(101, GpuEvent{identity}));
  for (const double wobble : {-0.001, 0.001}) run.add(at(110, measured({}, 0.1 + wobble, 300)));
  run.add(at(120, decided(kTried, true)));
  run.add(at(125, measured(kTried, 0.12, 240)));
  run.add(at(130, decided(kKept, false)));
  for (const double wobble : {-0.001, 0.001}) {
    run.add(at(140, measured(kKept, 0.102 + wobble, 250)));
  }
  run.add(at(150, StateChange{"hold", "search", "least energy", 42, 0, {}}));
  return run;
}

TEST(SummaryText, TellsOfALogThatWasCutOffWhatItsWindowsShow) {
  EXPECT_EQ(summary_text(searched()),
            "hypermile: the log ends after 50.0 s, before its run did\n"
            "  GPU 3 (NVIDIA H200)\n"
            "    default: 100.0 ± 2.0 ms and 30.00 ± 0.59 J an iteration, from 2 windows\n"
            "    kept sm=1800MHz: 102.0 ± 2.0 ms and 25.50 ± 0.49 J an iteration, from 2 windows\n"
            "      15.0 ± 2.3 % energy saved, 2.0 ± 2.8 % slower\n"
            "      tried: sm=1200MHz (4.0 % energy saved, 20.0 % slower)\n"
            "  saved 102 J (0.028 Wh) in the 30 iterations measured off the default, its search "
            "included\n"
            "  last state 'hold': least energy\n");
}

TEST(SummaryText, SaysHowARunEndedThatHasLeftNoSummary) {
  RunDigest run(8, 8);
  run.add(at(100, RunStart{}));
  run.add(at(130, RunEnd{3, "the job ended", {}}));

  EXPECT_EQ(summary_text(run), "hypermile: the job ended, after 30.0 s with 3\n");
}

TEST(SummaryText, IsWhatTheRunItselfHasLeft) {
  RunDigest run = searched();
  run.add(at(160, RunEnd{0, "the job ended", {}, {"hypermile: first", "  second"}}));

  EXPECT_EQ(summary_text(run), "hypermile: first\n  second\n");
  EXPECT_NE(measured_text(run).find("15.0 ± 2.3 % energy saved"), std::string::npos);
}

}  // namespace
}  // namespace hypermile
