// SPDX-License-Identifier: Apache-2.0
//
// How a job ended, and how hypermile ends the same way: with the job's exit code, or killed by the
// job's signal. Shells treat the two differently (a script goes on after a program that returned
// 130, and stops after one that SIGINT killed), so hypermile dies of signal n where it can and
// returns 128 + n only where it cannot.
#pragma once

#include <optional>

namespace hypermile {

struct JobEnd {
  int code = 0;               // the job's exit code; meaningless when a signal ended the job
  std::optional<int> signal;  // the signal that ended the job, if one did

  // The code that a shell reports: 128 + n for signal n.
  int exit_code() const { return signal ? 128 + *signal : code; }
  bool operator==(const JobEnd&) const = default;
};

// What env and nohup return for a command that cannot be run.
inline constexpr int kCommandNotFound = 127;
inline constexpr int kCommandNotRunnable = 126;

// Kills this process with the job's signal, without writing a core file. Returns exit_code() when
// no signal ended the job, or when the signal does not kill this process. Call it last in main().
int end_like(const JobEnd& end);

}  // namespace hypermile
