// SPDX-License-Identifier: Apache-2.0
#include "record/history.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "testing/measured_runs.h"

namespace hypermile {
namespace {

const MeasuredGpu kCard{GpuUuid("GPU-1")};

RunDigest a_run(const std::string& id) {
  RunDigest run(100, 100);
  RunStart start;
  start.run = RunId(id);
  start.unix_time = 1.7e9;
  start.command = {"hypermile", "run", "--", "python", "train.py"};
  start.environment = {
      {"host", "node1"}, {"policy", "hypermile"}, {"price_per_kwh", "0.3"}, {"currency", "EUR"}};
  run.add(event_at(0, start));
  run.add(event_at(1, kCard.window({}, 0.1, 300)));
  run.add(event_at(2, kCard.window({.sm_clock = Mhz(1400)}, 0.102, 250)));
  run.add(event_at(3, RunEnd{0, "the job ended", {{"seconds", 3}, {"joules", 3.6e6}}, {}}));
  return run;
}

class HistoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::path(::testing::TempDir()) / ("history_" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    path_ = (folder_ / "deep" / "history.jsonl").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(HistoryTest, RemembersRunsInTheirOrderWithTheirFigures) {
  ASSERT_TRUE(remember(path_, remembered(a_run("a"), "/home/me", "")).ok());
  ASSERT_TRUE(remember(path_, remembered(a_run("b"), "/home/me", "b.jsonl")).ok());

  const auto history = read_history(path_);
  ASSERT_TRUE(history.ok()) << history.error().line();
  ASSERT_EQ(history->runs.size(), 2U);
  const RememberedRun& last = history->runs.back();
  EXPECT_EQ(last.run, "b");
  EXPECT_EQ(last.command, "python train.py");
  EXPECT_EQ(last.host, "node1");
  EXPECT_EQ(last.log, "b.jsonl");
  EXPECT_EQ(last.figure("kwh"), 1.0);
  EXPECT_EQ(last.figure("cost"), 0.3);
  EXPECT_EQ(last.exit_code, 0);
  EXPECT_FALSE(last.figure("nothing"));
}

TEST_F(HistoryTest, TheSameCommandInAnotherFolderIsAnotherJob) {
  EXPECT_EQ(remembered(a_run("a"), "/x", "").job, remembered(a_run("b"), "/x", "").job);
  EXPECT_NE(remembered(a_run("a"), "/x", "").job, remembered(a_run("a"), "/y", "").job);
}

TEST_F(HistoryTest, IsForItsOwnerAlone) {
  ASSERT_TRUE(remember(path_, remembered(a_run("a"), "", "")).ok());
  struct stat facts {};
  ASSERT_EQ(::stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
}

TEST_F(HistoryTest, PassesOverLinesThatItCannotRead) {
  ASSERT_TRUE(remember(path_, remembered(a_run("a"), "", "")).ok());
  std::ofstream(path_, std::ios::app)
      << "{\"run\": 7}\nnonsense\n[]\n"
      << R"({"run": "x", "unix_time": 1, "figures": 5})"
      << "\n"
      << R"({"run": "x", "unix_time": 1, "figures": {"currency": 5}})"
      << "\n";
  ASSERT_TRUE(remember(path_, remembered(a_run("b"), "", "")).ok());

  const auto history = read_history(path_);
  EXPECT_EQ(history->runs.size(), 2U);
  EXPECT_EQ(history->unreadable, 5U);
}

TEST_F(HistoryTest, SaysSoWhereItCannotBeWritten) {
  const auto kept = remember("/proc/none/history.jsonl", remembered(a_run("a"), "", ""));
  ASSERT_FALSE(kept.ok());
  EXPECT_EQ(kept.error().code, ErrorCode::kIo);
  EXPECT_TRUE(read_history("/nonexistent/history.jsonl")->runs.empty());
}

}  // namespace
}  // namespace hypermile
