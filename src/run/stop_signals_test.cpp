// SPDX-License-Identifier: Apache-2.0
#include "run/stop_signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "testing/child_process.h"

namespace hypermile {
namespace {

constexpr int kStopped = 7;

// Ends with kStopped, some time after the first signal; a second one may end it earlier.
pid_t start_waiting(int tell) {
  return start_child([tell] {
    for (const int signal : {SIGINT, SIGTERM}) ::signal(signal, SIG_DFL);
    const StopSignals signals;
    if (::write(tell, "x", 1) != 1) return 1;
    while (!signals.token().stop_requested()) ::usleep(1000);
    ::usleep(600'000);
    return kStopped;
  });
}

class StopSignalsTest : public ::testing::Test {
 protected:
  StopSignalsTest() {
    EXPECT_EQ(::pipe(ends_), 0);
    child_ = start_waiting(ends_[1]);
    char ready = 0;
    EXPECT_EQ(::read(ends_[0], &ready, 1), 1);
  }
  ~StopSignalsTest() override {
    for (const int end : ends_) ::close(end);
  }
  int ends_[2] = {-1, -1};
  pid_t child_ = -1;
};

// As timeout(1) does: once to the process, once to its group.
TEST_F(StopSignalsTest, OneThatComesTwiceAtOnceIsOne) {
  ::kill(child_, SIGTERM);
  ::usleep(20'000);
  ::kill(child_, SIGTERM);

  EXPECT_EQ(wait_for(child_), kStopped);
}

TEST_F(StopSignalsTest, ASecondOneEndsTheProcess) {
  ::kill(child_, SIGINT);
  ::usleep(300'000);
  ::kill(child_, SIGINT);

  EXPECT_EQ(wait_for(child_), 128 + SIGINT);
}

}  // namespace
}  // namespace hypermile
