// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/crash_recovery.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>

#include "base/terminal_text.h"
#include "lease/daemon/kept_gpus.h"

namespace hypermile {
namespace {

constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};

// A signal handler may neither allocate nor lock, so everything that it needs is made before.
struct NextLife {
  std::string state;
  std::array<char*, 5> arguments = {};
};
NextLife next_life;
alignas(16) char own_stack[64 * 1024];

void on_crash(int signal) {
  ::execve("/proc/self/exe", next_life.arguments.data(), environ);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

void recover_after_crashes(const DaemonOptions& options) {
  static char name[] = "hypermiled";
  static char recover[] = "--recover";
  static char state[] = "--state";
  next_life.state = options.state;
  next_life.arguments = {name, recover, state, next_life.state.data(), nullptr};
  const stack_t stack{own_stack, 0, sizeof own_stack};
  ::sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = on_crash;
  action.sa_flags = SA_ONSTACK;
  sigfillset(&action.sa_mask);  // the next life begins with every signal blocked
  for (const int signal : kCrashes) ::sigaction(signal, &action, nullptr);
}

Result<void> recover(const DaemonOptions& options, const Log& log, int attempts) {
  const auto files = make_real_files();
  const auto clock = make_real_clock();
  const DaemonConfig none;
  const KeepOptions keep{options.state, fmt::format("hypermiled (pid {})", ::getpid()), {}, &none};
  const std::size_t left = restore_orphans(keep, *files, *clock, log, attempts);
  if (left == 0) return {};
  return Error{ErrorCode::kNotReady, "not restored: " + counted(left, "GPU"),
               "start hypermiled, or run 'hypermile reset --all'"};
}

}  // namespace hypermile
