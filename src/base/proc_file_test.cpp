// SPDX-License-Identifier: Apache-2.0
#include "base/proc_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace hypermile {
namespace {

TEST(ProcFile, IsReadCompletely) {
  const auto status = read_proc_file(::getpid(), "status");

  ASSERT_TRUE(status.has_value());
  EXPECT_NE(status->find("nonvoluntary_ctxt_switches"), std::string::npos)
      << "the last line of the file is missing";
}

TEST(ProcFile, IsAbsentWhenTheProcessEndsDuringTheRead) {
  for (int i = 0; i < 40; ++i) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    std::thread reaper([child] { ::waitpid(child, nullptr, 0); });
    while (read_proc_file(child, "status")) {
    }
    reaper.join();
  }

  EXPECT_FALSE(read_proc_file(0, "status").has_value());
}

}  // namespace
}  // namespace hypermile
