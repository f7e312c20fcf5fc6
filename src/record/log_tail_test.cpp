// SPDX-License-Identifier: Apache-2.0
#include "record/log_tail.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "testing/example_events.h"
#include "testing/measured_runs.h"

namespace hypermile {
namespace {

class LogTailTest : public testing::Test {
 protected:
  LogTailTest() : path_(testing::TempDir() + "tail-" + std::to_string(::getpid()) + ".jsonl") {}
  ~LogTailTest() override { std::filesystem::remove(path_); }

  void append(const std::string& text) { std::ofstream(path_, std::ios::app) << text; }
  static std::string line(const EventBody& body) { return to_json_line({Instant(), body}) + "\n"; }

  std::string path_;
};

TEST_F(LogTailTest, TakesWhatIsAppendedAndWaitsForTheOtherHalfOfALine) {
  const std::string start = line(RunStart{});
  append(start.substr(0, 20));
  LogTail log(path_);

  ASSERT_TRUE(log.poll().ok());
  EXPECT_EQ(log.events(), 0u);
  EXPECT_TRUE(log.half_a_line());
  append(start.substr(20) + line(RunEnd{}));
  ASSERT_TRUE(log.poll().ok());

  EXPECT_EQ(log.events(), 2u);
  EXPECT_EQ(log.runs().size(), 1u);
  EXPECT_EQ(log.unreadable_lines(), 0u);
  EXPECT_FALSE(*log.poll());
}

TEST_F(LogTailTest, BeginsAnewWhereTheLogWasReplacedOrCut) {
  append(line(RunStart{}) + line(RunStart{}));
  LogTail log(path_);
  ASSERT_TRUE(log.poll().ok());
  ASSERT_EQ(log.runs().size(), 2u);

  std::ofstream(path_, std::ios::trunc) << line(RunStart{});
  ASSERT_TRUE(log.poll().ok());

  EXPECT_EQ(log.runs().size(), 1u);
  EXPECT_EQ(log.events(), 1u);
}

TEST_F(LogTailTest, CountsLinesThatAreNoEventsAndGoesOn) {
  append(line(RunStart{}) + "{\"torn\":\n" + line(RunEnd{}));
  const Result<LogTail> log = read_log(path_);

  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log->unreadable_lines(), 1u);
  EXPECT_TRUE(log->runs().front()->end());
}

// Logs of version 0.1 have the machine's uptime as the time of their events.
TEST_F(LogTailTest, CountsTheTimesOfEachRunFromItsStart) {
  const MeasuredGpu card{GpuUuid("GPU-1")};
  WindowEvent event = card.window({}, 0.1, 300);
  for (const double booted : {86400.0, 90000.0}) {
    event.window.begin = Instant() + Seconds(booted + 4);
    append(to_json_line(event_at(booted, RunStart{})) + "\n");
    append(to_json_line(event_at(booted + 6, event)) + "\n");
  }

  const Result<LogTail> log = read_log(path_);

  ASSERT_TRUE(log.ok());
  ASSERT_EQ(log->runs().size(), 2u);
  for (const auto& run : log->runs()) {
    EXPECT_EQ(run->now_s(), 6);
    EXPECT_EQ(run->figures().job().seconds, 6);
    EXPECT_EQ(run->gpus().front()->phases.front().time_s.buckets().front().first_s, 5);
  }
}

TEST_F(LogTailTest, ComparesASimulatedRunWithTheDefaultRunBeforeIt) {
  const auto play = [&](const std::string& policy, double joules) {
    RunStart start;
    start.environment = {{"simulated", "true"}, {"gpu", "g"}, {"workload", "w"}, {"seed", "1"}};
    start.environment["policy"] = policy;
    append(line(start));
    append(line(RunEnd{0, "", {{"seconds", 10}, {"joules", joules}, {"iterations", 7}}, {}}));
  };
  play("default", 1000);
  play("hypermile", 900);

  const Result<LogTail> log = read_log(path_);

  ASSERT_TRUE(log.ok());
  EXPECT_TRUE(log->runs().back()->figures().job().against_default_run);
  EXPECT_NEAR(log->runs().back()->figures().job().energy_change->value, -0.1, 1e-12);
  EXPECT_FALSE(log->runs().front()->figures().job().energy_change);
}

TEST_F(LogTailTest, KeepsTheNewestRuns) {
  for (int i = 0; i < 5; ++i) append(line(RunStart{}));
  const Result<LogTail> log = read_log(path_, {.runs = 2});

  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log->runs().size(), 2u);
  EXPECT_EQ(log->runs_left_out(), 3u);
}

TEST_F(LogTailTest, RefusesWhatIsNoLogWithOneLine) {
  EXPECT_EQ(read_log(path_).error().code, ErrorCode::kNotFound);
  append("");
  EXPECT_EQ(read_log(path_).error().message, path_ + ": the log is empty");
  append("step,loss\n1,2.5\n");

  const Result<LogTail> foreign = read_log(path_);

  EXPECT_EQ(foreign.error().message, path_ + ": no line of it is an event of hypermile");
  EXPECT_EQ(read_log(testing::TempDir()).error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace hypermile
