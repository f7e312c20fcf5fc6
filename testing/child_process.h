// SPDX-License-Identifier: Apache-2.0
//
// For tests of what happens between processes: runs a function in a forked child.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace hypermile {

// Ends the test where no process can be made: a test that went on would send its signals to process
// -1, which is every process on the machine.
inline pid_t fork_child() {
  const pid_t pid = ::fork();
  if (pid >= 0) return pid;
  std::perror("fork");
  std::abort();
}

// The child exits with what `body` returns. No destructor or exit handler of the test runs in it.
template <class Body>
pid_t start_child(Body body) {
  const pid_t pid = fork_child();
  if (pid == 0) ::_exit(body());
  return pid;
}

// The child's exit status, or 128 plus the signal that ended it.
inline int wait_for(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

template <class Body>
int in_child(Body body) {
  return wait_for(start_child(body));
}

}  // namespace hypermile
