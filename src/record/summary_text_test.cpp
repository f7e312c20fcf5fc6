// SPDX-License-Identifier: Apache-2.0
#include "record/summary_text.h"

#include <gtest/gtest.h>

#include "testing/measured_runs.h"

namespace hypermile {
namespace {

const MeasuredGpu kGpu{GpuUuid("GPU-7")};
const Setting kKept{.sm_clock = Mhz(1800)};
const Setting kTried{.sm_clock = Mhz(1200)};

// A default of 0.1 s and 30 J, twice; a probe; two Windows at what is kept.
RunDigest searched() {
  RunDigest run(8, 8);
  GpuIdentity identity;
  identity.uuid = kGpu.gpu;
  identity.name = "NVIDIA H200";
  identity.index = 3;
  run.add(event_at(100, RunStart{}));
  run.add(event_at(101, GpuEvent{identity}));
  for (const double wobble : {-0.001, 0.001}) {
    run.add(event_at(110, kGpu.window({}, 0.1 + wobble, 300)));
  }
  run.add(event_at(120, kGpu.decision(kTried, true)));
  run.add(event_at(125, kGpu.window(kTried, 0.12, 240)));
  run.add(event_at(130, kGpu.decision(kKept, false)));
  for (const double wobble : {-0.001, 0.001}) {
    run.add(event_at(140, kGpu.window(kKept, 0.102 + wobble, 250)));
  }
  run.add(event_at(150, StateChange{"hold", "search", "least energy", 42, 0, {}}));
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
  run.add(event_at(100, RunStart{}));
  run.add(event_at(130, RunEnd{3, "the job ended", {}}));

  EXPECT_EQ(summary_text(run), "hypermile: the job ended, after 30.0 s with 3\n");
}

TEST(SummaryText, IsWhatTheRunItselfHasLeft) {
  RunDigest run = searched();
  run.add(event_at(160, RunEnd{0, "the job ended", {}, {"hypermile: first", "  second"}}));

  EXPECT_EQ(summary_text(run), "hypermile: first\n  second\n");
  EXPECT_NE(measured_text(run).find("15.0 ± 2.3 % energy saved"), std::string::npos);
}

}  // namespace
}  // namespace hypermile
