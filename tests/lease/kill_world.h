// SPDX-License-Identifier: Apache-2.0
//
// A machine for one run of the kill matrix: an NVML stand-in with two GPUs, journals and socket in
// a temporary folder, daemons, guardians, and a client that repeats every step of a lease.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/units.h"
#include "sim/stand_in/machine.h"
#include "syscall_tracer.h"

namespace hypermile {

class KillWorld {
 public:
  struct Programs {
    std::string daemon;    // hypermiled
    std::string stand_in;  // libnvidia-ml.so.1
  };
  static constexpr Seconds kTtl = milliseconds(300);

  explicit KillWorld(const Programs& programs);
  // Ends every process of this run.
  ~KillWorld();
  KillWorld(const KillWorld&) = delete;
  KillWorld& operator=(const KillWorld&) = delete;

  // Starts hypermiled, traced from its first call if `traced`.
  pid_t start_daemon(bool traced = false);
  bool await_daemon();
  // Starts the client at its own terminal; it takes a lease, changes the GPU and then waits.
  pid_t start_client(bool with_guardian);
  // Waits until the GPU is changed and the client waits.
  bool await_change();
  void let_client_go_on();
  int client_cycles();  // completed so far
  void close_terminal();
  pid_t guardian();  // 0 if there is none

  // True if no trace of a lease is on the first GPU and the second is as its administrator left it.
  bool restored();
  // Describes the GPU's state, for messages.
  std::string seen();

  // Waits until `done` while everything runs on; false if that takes longer than `most`.
  bool wait(Seconds most, const std::function<bool()>& done);
  bool has_ended(pid_t process) const { return tracer.ended().count(process) != 0; }
  // Signals a process of this run unless it has ended, because its number may be in use again.
  void signal(pid_t process, int signal) const;
  void signal_group(pid_t leader, int signal) const;

  SyscallTracer tracer;
  std::filesystem::path folder;
  std::unique_ptr<Clock> clock = make_real_clock();

 private:
  pid_t spawn(const std::function<int()>& body, bool terminal);

  Programs programs_;
  std::unique_ptr<Machine> machine_;
  std::string uuid_;
  pid_t client_ = 0;
  int terminal_ = -1;
  int events_ = -1;  // from the client
  int orders_ = -1;  // to the client
  int cycles_ = 0;
  bool changed_told_ = false;
  std::set<pid_t> started_;
};

}  // namespace hypermile
