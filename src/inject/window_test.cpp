// SPDX-License-Identifier: Apache-2.0
//
// Windows on a machine without a driver: the result says what is missing, and no byte is written
// beyond the size that the caller gave. Windows on GPUs are tested with the C example
// (tests/packaging).
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "hypermile.h"

namespace {

class WindowWithoutDriver : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ::setenv("HYPERMILE_NVML", "/nowhere/libnvidia-ml.so.1", 1); }
};

TEST_F(WindowWithoutDriver, ReportsTimeAndTicksAndWhyThereAreNoJoules) {
  hypermile_window* outer = hypermile_window_begin(nullptr);
  hypermile_tick();
  hypermile_window* inner = hypermile_window_begin("0,1");
  hypermile_tick_phase("eval");
  hypermile_measured of_inner, of_outer;

  EXPECT_EQ(hypermile_window_end(inner, &of_inner, sizeof of_inner), 0);
  EXPECT_EQ(hypermile_window_end(outer, &of_outer, sizeof of_outer), 0);

  EXPECT_EQ(of_inner.iterations, 1);
  EXPECT_EQ(of_outer.iterations, 2);
  EXPECT_GE(of_outer.seconds, of_inner.seconds);
  EXPECT_EQ(of_outer.joules, 0);
  EXPECT_EQ(of_outer.gpus, 0U);
  EXPECT_STREQ(of_outer.reason,
               "NVIDIA's management library was not found: install the NVIDIA driver");
}

TEST_F(WindowWithoutDriver, WritesNoMoreThanTheCallersSize) {
  unsigned char memory[sizeof(hypermile_measured)];
  std::memset(memory, 0xAB, sizeof memory);

  // This caller was built when the structure had two members.
  hypermile_window_end(hypermile_window_begin(nullptr),
                       reinterpret_cast<hypermile_measured*>(memory), 2 * sizeof(double));

  EXPECT_EQ(memory[2 * sizeof(double)], 0xAB);
  EXPECT_NE(memory[0] + memory[1] + memory[2], 3 * 0xAB);
}

TEST_F(WindowWithoutDriver, AcceptsNullPointers) {
  hypermile_measured measured;

  EXPECT_EQ(hypermile_window_end(nullptr, &measured, sizeof measured), 0);
  EXPECT_STREQ(measured.reason, "there was no memory for the window");
  EXPECT_EQ(hypermile_window_end(nullptr, nullptr, 0), 0);
  EXPECT_EQ(hypermile_window_end(hypermile_window_begin(nullptr), nullptr, 0), 0);
}

TEST_F(WindowWithoutDriver, ReportsAForkInsideTheWindow) {
  hypermile_window* window = hypermile_window_begin(nullptr);

  const pid_t child = ::fork();
  if (child == 0) {
    hypermile_measured measured;
    hypermile_window_end(window, &measured, sizeof measured);
    ::_exit(std::strstr(measured.reason, "forked") != nullptr ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);

  EXPECT_EQ(status, 0);
  hypermile_window_end(window, nullptr, 0);
}

}  // namespace
