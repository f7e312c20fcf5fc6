// SPDX-License-Identifier: Apache-2.0
#include "run/live_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace hypermile {
namespace {

constexpr LiveTerms kShared{.terminal = true, .term = "xterm-256color", .bound = 0.05};

std::string said(const LiveTerms& terms) {
  std::ostringstream err;
  {
    LiveLine line(err, terms);
    const auto at = [](double seconds) { return Instant() + Seconds(seconds); };
    line.take({at(0), StateChange{"warm_up", "", "watching"}});
    line.take({at(10), StateChange{"hold", "warm_up", "the least that keeps the bound"}});
    line.take({at(12), StateChange{"released", "hold", "the job has ended"}});
  }
  return err.str();
}

TEST(LiveLine, WithoutATerminalThereIsALineAtEachChangeOfState) {
  EXPECT_EQ(said({.terminal = false, .term = "xterm"}),
            "hypermile: 10 s: hold: the least that keeps the bound\n");
}

ProgressEvent progress(const char* state) {
  ProgressEvent event;
  event.state = state;
  event.source = "launches";
  return event;
}

// Epochs of half a second, each followed by an evaluation in which no iteration is known.
TEST(LiveLine, AStateThatComesAndGoesIsNotTold) {
  std::ostringstream err;
  LiveLine line(err, {.terminal = false, .term = "xterm"});
  for (int epoch = 0; epoch < 30; ++epoch) {
    line.take({Instant() + epoch * Seconds(1), progress("locked")});
    line.take({Instant() + epoch * Seconds(1) + Seconds(0.6), progress("searching")});
  }
  EXPECT_EQ(err.str(), "") << "no state has lasted";

  line.take({Instant() + Seconds(30), progress("locked")});
  line.take({Instant() + Seconds(32), progress("locked")});
  EXPECT_EQ(err.str(), "hypermile: 30 s: watching: iterations are known from launches\n");
}

TEST(LiveLine, TellsAtMostOneLineInTenSeconds) {
  std::ostringstream err;
  LiveLine line(err, {.terminal = false, .term = "xterm"});
  for (int i = 0; i < 60; ++i) {
    line.take({Instant() + i * Seconds(1), progress(i / 3 % 2 == 0 ? "locked" : "searching")});
  }
  const std::string text = err.str();
  EXPECT_GE(std::ranges::count(text, '\n'), 2);
  EXPECT_LE(std::ranges::count(text, '\n'), 6);
}

TEST(LiveLine, ASearchGivesASignEveryMinute) {
  std::ostringstream err;
  LiveLine line(err, {.terminal = false, .term = "xterm", .bound = 0.05});
  const auto at = [](double seconds) { return Instant() + Seconds(seconds); };
  line.take({at(0), StateChange{"warm_up", "", "watching"}});
  line.take({at(5), StateChange{"search", "warm_up", "a lower clock may save"}});
  Sample sample;
  sample.power_average = Watts(300);
  for (int i = 6; i < 200; ++i) line.take({at(i), SampleEvent{GpuUuid("GPU-1"), sample}});
  const std::string text = err.str();
  EXPECT_EQ(std::ranges::count(text, '\n'), 4) << text;
  EXPECT_NE(text.find("hypermile: 67 s: search"), std::string::npos) << text;
  EXPECT_NE(text.find("300 W"), std::string::npos) << text;

  line.take({at(200), StateChange{"hold", "search", "nothing better"}});
  for (int i = 201; i < 800; ++i) line.take({at(i), SampleEvent{GpuUuid("GPU-1"), sample}});
  EXPECT_EQ(std::ranges::count(err.str(), '\n'), 5) << "nothing more once a setting is held";
}

TEST(LiveLine, OnTheJobsTerminalNothingInTheTextIsEverRedrawn) {
  const std::string text = said(kShared);

  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find("\x1b[K"), std::string::npos);
  EXPECT_NE(text.find("\x1b]2;hypermile: hold; 5 % allowed\x07"), std::string::npos) << text;
  EXPECT_EQ(text.find("\x1b[22;2t"), 0U) << "the title that was there is kept first";
  EXPECT_EQ(text.rfind("\x1b[23;2t"), text.size() - 7) << "and given back last";
}

TEST(LiveLine, IsRenewedInPlaceWhereTheTerminalIsOursOrItIsAskedFor) {
  LiveTerms alone = kShared;
  alone.shared = false;
  LiveTerms asked = kShared;
  asked.asked_for = true;

  EXPECT_EQ(manner_of(alone), LiveManner::kInPlace);
  EXPECT_EQ(manner_of(asked), LiveManner::kInPlace);
  const std::string text = said(asked);
  EXPECT_EQ(text.find('\n'), std::string::npos) << "one line";
  EXPECT_EQ(text.rfind("\r\x1b[K"), text.size() - 4) << "gone in the end";
}

TEST(LiveLine, QuietAndPlainTerminalsAndNoColorAreRespected) {
  LiveTerms quiet = kShared;
  quiet.quiet = true;
  LiveTerms console = kShared;
  console.term = "linux";
  LiveTerms dumb = kShared;
  dumb.term = "dumb";
  dumb.asked_for = true;
  LiveTerms plain = kShared;
  plain.no_color = "1";

  EXPECT_EQ(said(quiet), "");
  EXPECT_EQ(manner_of(console), LiveManner::kLines);
  EXPECT_EQ(manner_of(dumb), LiveManner::kLines);
  EXPECT_NE(said(kShared).find("\x1b[32m"), std::string::npos);
  EXPECT_EQ(said(plain).find("\x1b[32m"), std::string::npos);
}

}  // namespace
}  // namespace hypermile
