// SPDX-License-Identifier: Apache-2.0
#include "record/summary_text.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/terminal_text.h"
#include "testing/measured_runs.h"

namespace hypermile {
namespace {

const MeasuredGpu kGpu{GpuUuid("GPU-7")};
const Setting kKept{.sm_clock = Mhz(1800)};
const Setting kTried{.sm_clock = Mhz(1200)};

// A default of 0.1 s and 30 J, twice; a probe; two windows at what is kept.
RunDigest searched() {
  RunDigest run(8, 8);
  GpuIdentity identity;
  identity.uuid = kGpu.gpu;
  identity.name = "NVIDIA H200";
  identity.index = 3;
  run.add(event_at(0, RunStart{}));
  run.add(event_at(1, GpuEvent{identity}));
  for (const double wobble : {-0.001, 0.001}) {
    run.add(event_at(10, kGpu.window({}, 0.1 + wobble, 300)));
  }
  run.add(event_at(20, kGpu.decision(kTried, true)));
  run.add(event_at(25, kGpu.window(kTried, 0.12, 270)));
  run.add(event_at(30, kGpu.decision(kKept, false)));
  for (const double wobble : {-0.001, 0.001}) {
    run.add(event_at(40, kGpu.window(kKept, 0.102 + wobble, 250)));
  }
  run.add(event_at(50, StateChange{"hold", "search", "least energy", 42, 0, {}}));
  return run;
}

TEST(SummaryText, TellsOfALogThatWasCutOffWhatItsWindowsShow) {
  EXPECT_EQ(
      summary_text(searched()),
      "hypermile: the log ends after 50.0 s, before its run did; GPU 3 (NVIDIA H200)\n"
      "  the whole job, search included, against the default: 4.4 ± 8.7 % energy saved (1434 J "
      "instead "
      "of "
      "1500 J), 0.5 ± 1.0 % slower (50.0 s instead of 49.8 s)\n"
      "  0.000398 kWh of the GPUs\n"
      "    default: 100.0 ± 12.7 ms and 30.00 ± 3.81 J an iteration, from 2 windows\n"
      "    kept sm=1800MHz: 102.0 ± 12.7 ms and 25.50 ± 3.18 J an iteration, from 2 windows\n"
      "      at the kept setting, per iteration: 15.0 ± 15.1 % energy saved, 2.0 ± 18.1 % slower\n"
      "      tried sm=1200MHz: used 8.0 % more energy, 20.0 % slower\n"
      "  last state 'hold': least energy\n");
}

TEST(SummaryText, FitsATerminal) {
  const std::string text = fitted(summary_text(searched()));

  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(columns(line), 80U) << line;
  EXPECT_NE(text.find("\n  the whole job, search included, against the default: "),
            std::string::npos);
  EXPECT_NE(text.find("\n      (1434 J instead of 1500 J)"), std::string::npos) << text;
}

TEST(SummaryText, SaysHowARunEndedThatHasLeftNoSummary) {
  RunDigest run(8, 8);
  run.add(event_at(0, RunStart{}));
  run.add(event_at(30, RunEnd{3, "the job ended", {}}));

  EXPECT_EQ(summary_text(run), "hypermile: the job ended, after 30.0 s with exit code 3\n");
}

TEST(SummaryText, IsWhatTheRunItselfHasLeft) {
  RunDigest run = searched();
  run.add(event_at(60, RunEnd{0, "the job ended", {}, {"hypermile: first", "  second"}}));

  EXPECT_EQ(summary_text(run), "hypermile: first\n  second\n");
  EXPECT_NE(measured_text(run).find("15.0 ± 15.1 % energy saved"), std::string::npos);
}

}  // namespace
}  // namespace hypermile
