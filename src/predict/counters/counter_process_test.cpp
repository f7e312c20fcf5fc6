// SPDX-License-Identifier: Apache-2.0
//
// A shell script plays the program, in real time. It creates a file once it has written everything,
// and the tests wait for that file only.
#include "predict/counters/counter_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace hypermile {
namespace {

GpuIdentity card() {
  GpuIdentity gpu;
  gpu.pci = PciAddress("00000000:3B:00.0");
  return gpu;
}

class CounterProcessTest : public testing::Test {
 protected:
  CounterProcessTest() { std::filesystem::remove(said_); }
  ~CounterProcessTest() override { std::filesystem::remove(said_); }

  CounterProcess asking(const std::string& script) {
    return running("(" + script + "); : > \"$SAID\"");
  }
  CounterProcess running(const std::string& script) {
    return CounterProcess(
        {"/bin/sh", {"sh", "-c", script, "sh"}, {"PATH=/usr/bin:/bin", "SAID=" + said_}}, *clock_);
  }

  // Begins, waits until the shell has written everything, and ends.
  PerformanceCounterReading reading_of(CounterProcess& process) {
    process.begin(card());
    wait_until_said();
    return process.end();
  }

  void wait_until_said() {
    const Instant until = clock_->now() + Seconds(30);
    while (!std::filesystem::exists(said_) && clock_->now() < until) {
      clock_->sleep_for(Seconds(0.002));
    }
    std::filesystem::remove(said_);
  }

  std::string said_ = (std::filesystem::temp_directory_path() /
                       ("counter_process_test." + std::to_string(::getpid())))
                          .string();
  std::unique_ptr<Clock> clock_ = make_real_clock();
};

TEST_F(CounterProcessTest, TakesTheLastDocumentOfAProgramThatStillRuns) {
  CounterProcess process = asking(
      R"(echo '{"samples":1,"features":{"sm_active":0.1}}'
         echo '{"samples":9,"features":{"sm_active":0.5,"l2_active":0.25}}'
         printf '{"samples":99,"feat'; : > "$SAID"; exec sleep 30)");

  const PerformanceCounterReading reading = reading_of(process);

  EXPECT_EQ(reading.samples, 9U);
  EXPECT_EQ(reading.features.get(Feature::kSmActive), 0.5);
  EXPECT_EQ(reading.features.get(Feature::kL2Active), 0.25);
  EXPECT_EQ(reading.problem, "");
}

TEST_F(CounterProcessTest, NamesTheGpuByItsAddress) {
  CounterProcess process =
      asking(R"([ "$1 $2" = "--gpu 00000000:3B:00.0" ] && echo '{"samples":1,"features":{}}')");

  EXPECT_EQ(reading_of(process).samples, 1U);
}

TEST_F(CounterProcessTest, PassesOnTheErrorLineOfAProgramThatFails) {
  CounterProcess process = asking("echo 'hypermile: you may not; ask root' >&2; exit 1");

  const PerformanceCounterReading reading = reading_of(process);

  EXPECT_EQ(reading.samples, 0U);
  EXPECT_EQ(reading.problem, "you may not; ask root");
}

TEST_F(CounterProcessTest, KeepsWhatWasReadBeforeAProgramDied) {
  CounterProcess process =
      asking(R"(echo '{"samples":4,"features":{"sm_active":0.5}}'; sh -c 'kill -SEGV $$')");

  const PerformanceCounterReading reading = reading_of(process);

  EXPECT_EQ(reading.samples, 4U);
  EXPECT_EQ(reading.problem, "");
}

TEST_F(CounterProcessTest, DoesNotWaitForAProgramThatSaysNothing) {
  CounterProcess process = asking("trap '' TERM; sleep 30");
  process.begin(card());
  const Instant before = clock_->now();

  const PerformanceCounterReading reading = process.end();

  EXPECT_LT((clock_->now() - before).value(), 0.2);
  EXPECT_NE(reading.problem.find("not answered"), std::string::npos);
}

TEST_F(CounterProcessTest, TakesNoNumbersFromGarbage) {
  for (const char* garbage :
       {"{}", "[1]", "{\"samples\":-1,\"features\":{}}", "{\"samples\":3,\"features\":7}",
        "{\"samples\":3,\"features\":{\"sm_active\":\"much\"}}",
        "{\"samples\":3,\"features\":{\"warp_drive\":1}}"}) {
    CounterProcess process = asking(std::string("echo '") + garbage + "'");

    const PerformanceCounterReading reading = reading_of(process);

    EXPECT_EQ(reading.features.known(), 0U) << garbage;
    EXPECT_EQ(reading.problem, garbage);
  }
}

TEST_F(CounterProcessTest, ReportsAProgramThatCannotBeStarted) {
  CounterProcess process({"/not/there", {"there"}, {}}, *clock_);

  process.begin(card());
  const PerformanceCounterReading reading = process.end();

  EXPECT_NE(reading.problem.find("/not/there"), std::string::npos);
}

TEST_F(CounterProcessTest, ReadsAgainAfterItHasRead) {
  CounterProcess process = asking("echo '{\"samples\":1,\"features\":{}}'");

  EXPECT_EQ(reading_of(process).samples, 1U);
  siginfo_t ended;
  ::waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT);  // it ends behind its words, if it has not yet
  EXPECT_EQ(reading_of(process).samples, 1U);
  EXPECT_EQ(process.end().samples, 0U);
}

TEST_F(CounterProcessTest, LeavesNoProcessBehind) {
  {
    CounterProcess process = running(R"(trap '' TERM; : > "$SAID"; while :; do sleep 0.05; done)");
    process.begin(card());
    wait_until_said();
  }

  // Only a killed process that is not yet reaped may be left.
  while (::waitpid(-1, nullptr, 0) > 0) {
  }
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace hypermile
