// SPDX-License-Identifier: Apache-2.0
//
// For tests of the command line: calls the program as a user would, in virtual time and without the
// configuration of this machine.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "cli/cli.h"

namespace hypermile {

class CliTest : public ::testing::Test {
 protected:
  CliTest() { ::setenv("XDG_CONFIG_HOME", "/nonexistent", 1); }

  // Returns the exit code; out() and err() then hold what was written.
  int run(const std::vector<std::string>& arguments) {
    out_.str("");
    err_.str("");
    VirtualClock clock(1.7e9);
    CommandContext context{out_, err_, false, clock, {}};
    return run_cli(arguments, context);
  }
  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }

 private:
  std::ostringstream out_;
  std::ostringstream err_;
};

// A machine without a driver or a daemon, with the data files of the source tree.
class BareMachineTest : public CliTest {
 protected:
  void SetUp() override {
    const char* source = std::getenv("HYPERMILE_SOURCE_DIR");
    ASSERT_NE(source, nullptr) << "run through ctest, or set it to the source folder";
    ::setenv("HYPERMILE_NVML", "/nonexistent/libnvidia-ml.so.1", 1);
    ::setenv("HYPERMILE_SOCKET", "/nonexistent/hypermiled.sock", 1);
    ::setenv("HYPERMILE_STATE", "/nonexistent/state", 1);
    ::setenv("HYPERMILE_DATA", source, 1);
    sweep_ = std::string(source) + "/workloads/demo_sweep.csv";
  }

  std::string sweep_;  // a small measured sweep
};

}  // namespace hypermile
