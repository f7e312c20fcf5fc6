// SPDX-License-Identifier: Apache-2.0
//
// Reads performance counters in a child process (`hypermile counters`), which loads CUPTI and the
// CUDA driver: if these crash or hang, features are missing and measurements go on. The child
// writes lines of JSON with the means so far, and the last complete line counts. Called by the
// measuring thread of `run` and `sweep`; failures are reported in
// PerformanceCounterReading::problem.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "measure/performance_counters.h"

namespace hypermile {

struct CounterProgram {
  std::string path;
  std::vector<std::string> arguments;    // from argv[0] on; "--gpu" and the address are appended
  std::vector<std::string> environment;  // NAME=VALUE entries
};

class CounterProcess final : public PerformanceCounters {
 public:
  // `clock` must outlive the object.
  CounterProcess(CounterProgram program, Clock& clock);
  // Ends the program and waits for it, at most half a second.
  ~CounterProcess() override;
  CounterProcess(const CounterProcess&) = delete;
  CounterProcess& operator=(const CounterProcess&) = delete;

  void begin(const GpuIdentity& gpu) override;
  PerformanceCounterReading end() override;

 private:
  void read_output();
  void close_output();
  bool reap();

  CounterProgram program_;
  Clock& clock_;
  pid_t child_ = 0;  // 0 where there is none, or it is reaped
  int output_ = -1;
  std::string text_;     // the program's output so far
  std::string problem_;  // why the program does not run
};

}  // namespace hypermile
