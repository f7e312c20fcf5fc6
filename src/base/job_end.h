// SPDX-License-Identifier: Apache-2.0
//
// How a job ended, and how hypermile ends so that whoever started it sees the same: with the job's
// exit code, or killed by the job's signal. A shell tells the two apart (a script goes on after a
// program that returned 130, and stops with one that SIGINT killed), so we do not return 128+n
// where we can die of n.
#pragma once

#include <optional>

namespace hypermile {

struct JobEnd {
  int code = 0;               // what it returned; meaningless when a signal ended it
  std::optional<int> signal;  // that ended it

  // As shells report it: 128 + n for signal n.
  int exit_code() const { return signal ? 128 + *signal : code; }
  bool operator==(const JobEnd&) const = default;
};

// What env and nohup return for a command that cannot be run.
inline constexpr int kCommandNotFound = 127;
inline constexpr int kCommandNotRunnable = 126;

// Dies of the job's signal, without a core file of ours. Returns exit_code() where there was none,
// or where the signal does not kill.
int end_like(const JobEnd& end);

}  // namespace hypermile
