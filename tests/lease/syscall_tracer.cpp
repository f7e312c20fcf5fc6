// SPDX-License-Identifier: Apache-2.0
#include "syscall_tracer.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <system_error>

namespace hypermile {
namespace {

long trace(unsigned request, pid_t thread, unsigned long data = 0) {
  return ::ptrace(static_cast<__ptrace_request>(request), thread, nullptr, data);
}

// Cancels the call that is about to begin.
void skip_call(pid_t thread) {
#ifdef __x86_64__
  user_regs_struct registers = {};
  iovec vector{&registers, sizeof registers};
  ::ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &vector);
  registers.orig_rax = ~0ULL;
  ::ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &vector);
#else
  (void)thread;
#endif
}

void set_result(pid_t thread, long result) {
#ifdef __x86_64__
  user_regs_struct registers = {};
  iovec vector{&registers, sizeof registers};
  ::ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &vector);
  registers.rax = static_cast<unsigned long long>(result);
  ::ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &vector);
#else
  (void)thread;
  (void)result;
#endif
}

bool stops_a_group(int signal) {
  return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

}  // namespace

bool SyscallTracer::attach(pid_t process) {
  process_ = process;
  seize_threads();
  return !threads_.empty();
}

void SyscallTracer::seize_threads() {
  constexpr unsigned long kOptions =
      PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
  const std::string folder = "/proc/" + std::to_string(process_) + "/task";
  // Repeats until no thread is new, because one may start meanwhile.
  for (bool found = true; found;) {
    found = false;
    std::error_code ignored;
    // The process may end while its folder is read, which must not throw.
    for (std::filesystem::directory_iterator entry(folder, ignored), end; !ignored && entry != end;
         entry.increment(ignored)) {
      const auto thread = static_cast<pid_t>(std::atol(entry->path().filename().c_str()));
      if (threads_.count(thread) != 0 || trace(PTRACE_SEIZE, thread, kOptions) != 0) continue;
      threads_.try_emplace(thread);
      trace(PTRACE_INTERRUPT, thread);
      found = true;
    }
  }
}

void SyscallTracer::count(BeforeCall before) {
  before_ = std::move(before);
  steps_ = 0;
}

void SyscallTracer::pump(int ms) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  for (bool waited = false;;) {
    int status = 0;
    const pid_t thread = ::waitpid(-1, &status, __WALL | WNOHANG);
    if (thread > 0) {
      handle(thread, status);
      waited = true;  // events that are already there are handled, but nothing more is waited for
      continue;
    }
    if (waited || ms <= 0) return;
    const timespec patience{ms / 1000, ms % 1000 * 1000000L};
    ::sigtimedwait(&child, nullptr, &patience);
    waited = true;
  }
}

void SyscallTracer::handle(pid_t thread, int status) {
  if (WIFEXITED(status) || WIFSIGNALED(status)) {
    ended_[thread] = status;
    threads_.erase(thread);
    return;
  }
  if (!WIFSTOPPED(status)) return;
  // A new thread may report before its parent does.
  const auto found = threads_.try_emplace(thread);
  const int signal = WSTOPSIG(status);
  const int event = status >> 16;
  if (signal == (SIGTRAP | 0x80)) return on_call(thread, found.first->second);
  if (let_go_) return leave(thread, event == 0 ? signal : 0);
  if (event == PTRACE_EVENT_STOP && stops_a_group(signal)) {
    trace(PTRACE_LISTEN, thread);
    return;
  }
  trace(PTRACE_SYSCALL, thread, event == 0 ? static_cast<unsigned long>(signal) : 0UL);
}

void SyscallTracer::on_call(pid_t thread, Thread& state) {
  __ptrace_syscall_info info = {};
  ::ptrace(static_cast<__ptrace_request>(PTRACE_GET_SYSCALL_INFO), thread, sizeof info, &info);
  if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
    if (before_) before_(steps_++, thread);
    if (let_go_) return leave(thread, 0);
    if (!full_folder_.empty() && hits_full_disk(thread, info.entry.nr, info.entry.args)) {
      state.refuse = true;
      skip_call(thread);
    }
  } else if (state.refuse) {
    state.refuse = false;
    set_result(thread, -ENOSPC);
  }
  if (let_go_) return leave(thread, 0);
  trace(PTRACE_SYSCALL, thread);
}

void SyscallTracer::leave(pid_t thread, int signal) {
  trace(PTRACE_DETACH, thread, static_cast<unsigned long>(signal));
  threads_.erase(thread);
}

bool SyscallTracer::hits_full_disk(pid_t thread, std::uint64_t call,
                                   const std::uint64_t* args) const {
  if (call == SYS_openat) return (args[2] & O_CREAT) != 0;
  if (call != SYS_write && call != SYS_writev) return false;
  std::error_code ignored;
  const auto file = std::filesystem::read_symlink(
      "/proc/" + std::to_string(thread) + "/fd/" + std::to_string(args[0]), ignored);
  return file.string().starts_with(full_folder_);
}

}  // namespace hypermile
