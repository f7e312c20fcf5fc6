// SPDX-License-Identifier: Apache-2.0
//
// Follows all threads of a process from system call to system call, and lets a test strike before
// any call. The traced programs know nothing of it. Linux only; refusing calls needs x86-64.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace hypermile {

class SyscallTracer {
 public:
  // Called before each system call of the traced process, with the call's number from 0 and its
  // thread.
  using BeforeCall = std::function<void(int step, pid_t thread)>;

  // Seizes the process, which runs on. False if it is gone or the kernel does not allow it.
  bool attach(pid_t process);
  // Counts calls from now on; `before` may strike.
  void count(BeforeCall before);
  int steps() const { return steps_; }

  // From now on the process runs at full speed: each thread is detached when it stops next.
  void let_go() { let_go_ = true; }

  // From now on, writes to files under `folder` and new files are refused with ENOSPC, as on a full
  // disk.
  void fill_disk(std::string folder) { full_folder_ = std::move(folder); }

  // Handles what has happened to any child or traced thread, waiting at most `ms`.
  void pump(int ms);
  // The wait status of each child that has ended.
  const std::map<pid_t, int>& ended() const { return ended_; }

 private:
  struct Thread {
    bool in_call = false;
    bool refuse = false;  // refuse the current call
  };
  void seize_threads();
  void handle(pid_t thread, int status);
  void on_call(pid_t thread, Thread& state);
  void leave(pid_t thread, int signal);
  bool hits_full_disk(pid_t thread, std::uint64_t call, const std::uint64_t* args) const;

  pid_t process_ = 0;
  std::map<pid_t, Thread> threads_;
  std::map<pid_t, int> ended_;
  BeforeCall before_;
  int steps_ = 0;
  bool let_go_ = false;
  std::string full_folder_;
};

}  // namespace hypermile
