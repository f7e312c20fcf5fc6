// SPDX-License-Identifier: Apache-2.0
//
// Which signals are blocked and which are ignored: what a process inherits and passes on to the
// programs that it starts. We block and ignore some for ourselves; the job gets the state that we
// inherited, so that `nohup hypermile run …` is nohup for the job, and Python sees SIGPIPE as
// usual.
#pragma once

#include <csignal>

namespace hypermile {

class SignalState {
 public:
  // The state now; call it before changing anything.
  static SignalState current();

  // Sets this state again in this process. Safe between fork and exec.
  void restore() const;

 private:
  sigset_t mask_{};
  bool pipe_ignored_ = false;
  bool child_ignored_ = false;
};

}  // namespace hypermile
