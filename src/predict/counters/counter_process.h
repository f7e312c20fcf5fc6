// SPDX-License-Identifier: Apache-2.0
//
// Reads performance counters through a program of our own (`hypermile counters`): CUPTI and the
// CUDA driver are loaded there and not beside the job's measurements, so that whatever they do to
// their process, features are missing and nothing else. The program writes a line of JSON now and
// then with the means so far; the last one counts.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "measure/performance_counters.h"

namespace hypermile {

struct CounterProgram {
  std::string path;
  std::vector<std::string> arguments;    // of its own name on; --gpu and the GPU come behind
  std::vector<std::string> environment;  // NAME=VALUE
};

class CounterProcess final : public PerformanceCounters {
 public:
  // `clock` must outlive it.
  CounterProcess(CounterProgram program, Clock& clock);
  // Ends the program; waits half a second at most for it.
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
  pid_t child_ = 0;  // 0: none, or reaped
  int output_ = -1;
  std::string text_;     // of the program so far
  std::string problem_;  // why there is none
};

}  // namespace hypermile
