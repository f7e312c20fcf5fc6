// SPDX-License-Identifier: Apache-2.0
//
// Ctrl-C in commands that only read and compute. Each is given a FIFO as its input, in which it
// waits for ever, so it is certain that it has begun.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sstream>

#include "run/stop_signals.h"
#include "testing/child_process.h"
#include "testing/cli_fixture.h"

namespace hypermile {
namespace {

struct Interruption {
  const char* name;
  std::vector<std::string> arguments;  // FIFO stands for the path of the FIFO
};

class CtrlC : public BareMachineTest, public ::testing::WithParamInterface<Interruption> {
 protected:
  void SetUp() override {
    BareMachineTest::SetUp();
    fifo_ = ::testing::TempDir() + "hypermile-signal-" + GetParam().name + ".json";
    std::filesystem::remove(fifo_);
    ASSERT_EQ(::mkfifo(fifo_.c_str(), 0600), 0);
  }
  void TearDown() override { std::filesystem::remove(fifo_); }

  // Its exit code, as main() has it.
  int run_here() const {
    for (const int signal : {SIGINT, SIGTERM}) ::signal(signal, SIG_DFL);
    StopSignals signals;
    VirtualClock clock(1.7e9);
    std::ostringstream out, err;
    CommandContext context{out, err, false, clock, signals.token(), &signals};
    std::vector<std::string> arguments = GetParam().arguments;
    std::ranges::replace(arguments, "FIFO", fifo_);
    return run_cli(arguments, context);
  }

  std::string fifo_;
};

TEST_P(CtrlC, EndsItAtOnce) {
  const pid_t child = start_child([this] { return run_here(); });
  const int writer = ::open(fifo_.c_str(), O_WRONLY | O_CLOEXEC);  // waits until the child reads
  ASSERT_GE(writer, 0);

  ::kill(child, SIGINT);
  ::close(writer);  // a child that lives on sees an empty file, and ends in another way

  EXPECT_EQ(wait_for(child), 128 + SIGINT);
}

INSTANTIATE_TEST_SUITE_P(
    Commands, CtrlC,
    ::testing::Values(Interruption{"Evaluate", {"evaluate", "FIFO"}},
                      Interruption{"Learn", {"learn", "FIFO", "--out", "/nonexistent/model.json"}},
                      Interruption{"Predict", {"predict", "--model", "FIFO", "sweep.csv"}},
                      Interruption{"Plan", {"plan", "FIFO", "--gpu", "h200"}},
                      Interruption{"Detect", {"detect", "--launches", "FIFO"}},
                      Interruption{"History", {"history", "--history", "FIFO"}},
                      Interruption{"Compare", {"compare", "1", "2", "--history", "FIFO"}}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace hypermile
