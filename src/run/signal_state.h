// SPDX-License-Identifier: Apache-2.0
//
// What a process inherits of signals and hands on to the programs it starts: which are blocked and
// which are ignored. We block and ignore some for our own ends; the job gets what we were given, so
// that `nohup hypermile run …` is nohup for the job and Python sees SIGPIPE as it always does.
#pragma once

#include <csignal>

namespace hypermile {

class SignalState {
 public:
  // As it is now: ask before changing anything.
  static SignalState current();

  // Puts it back in this process. Safe between fork and exec.
  void restore() const;

 private:
  sigset_t mask_{};
  bool pipe_ignored_ = false;
  bool child_ignored_ = false;
};

}  // namespace hypermile
