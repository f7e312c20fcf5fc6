// SPDX-License-Identifier: Apache-2.0
#include "lease/daemon/privileged_start.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/descriptor.h"

namespace hypermile {
namespace {

struct Limit {
  decltype(RLIMIT_CPU) resource;
  const char* name;  // as in prlimit(1)
  rlim_t wanted;
  rlim_t least;  // with less the process could die, or fail to restore
};

constexpr rlim_t kMebibyte = rlim_t{1} << 20U;
// A driver maps some gigabytes, a thread has a stack of 8 MiB, a journal has at most 1 MiB, and a
// GPU takes about ten descriptors and three threads.
constexpr Limit kLimits[] = {
    {RLIMIT_CPU, "cpu", RLIM_INFINITY, RLIM_INFINITY},
    {RLIMIT_FSIZE, "fsize", RLIM_INFINITY, 16 * kMebibyte},
    {RLIMIT_DATA, "data", RLIM_INFINITY, 1024 * kMebibyte},
    {RLIMIT_AS, "as", RLIM_INFINITY, 8192 * kMebibyte},
    {RLIMIT_STACK, "stack", 8 * kMebibyte, kMebibyte},
    {RLIMIT_NOFILE, "nofile", 4096, 256},
    {RLIMIT_NPROC, "nproc", RLIM_INFINITY, 0},  // root is exempt
    {RLIMIT_RSS, "rss", RLIM_INFINITY, 0},
    {RLIMIT_MEMLOCK, "memlock", RLIM_INFINITY, 0},
    {RLIMIT_LOCKS, "locks", RLIM_INFINITY, 0},  // Linux counts no locks
    {RLIMIT_SIGPENDING, "sigpending", RLIM_INFINITY, 0},
    {RLIMIT_MSGQUEUE, "msgqueue", RLIM_INFINITY, 0},
    {RLIMIT_RTTIME, "rttime", RLIM_INFINITY, 0},  // for realtime priority, which is given up
    {RLIMIT_CORE, "core", 0, 0},  // a core file of root is no use in a user's folder
};
constexpr std::size_t kThreadStack = 8 * kMebibyte;

// RLIM_INFINITY is the largest number, so a plain comparison is right.
void raise_limit(const Limit& limit, std::vector<std::string>& could_not) {
  rlimit now = {};
  if (::getrlimit(limit.resource, &now) != 0) return;
  if (limit.resource == RLIMIT_CORE) {
    now.rlim_cur = 0;
    ::setrlimit(limit.resource, &now);
    return;
  }
  if (now.rlim_cur >= limit.wanted) return;
  const rlimit both{limit.wanted, std::max(limit.wanted, now.rlim_max)};
  if (::setrlimit(limit.resource, &both) == 0) return;
  // Without CAP_SYS_RESOURCE the hard limit is all that can be had.
  const rlimit soft{std::min(limit.wanted, now.rlim_max), now.rlim_max};
  if (::setrlimit(limit.resource, &soft) == 0) now.rlim_cur = soft.rlim_cur;
  if (now.rlim_cur < limit.least)
    could_not.push_back(fmt::format("{}={}", limit.name, now.rlim_cur));
}

// Without this, new threads would get the stack that the limit allowed when the program was loaded.
void set_thread_stacks() {
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return;
  if (::pthread_attr_setstacksize(&attributes, kThreadStack) == 0) {
    ::pthread_setattr_default_np(&attributes);
  }
  ::pthread_attr_destroy(&attributes);
}

void write_own(const char* path, std::string_view text, bool& written) {
  const Descriptor file(::open(path, O_WRONLY | O_CLOEXEC));
  written =
      file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// The kernel shall choose others first when memory is short. Lowering the number below what an
// administrator gave the process takes CAP_SYS_RESOURCE; returning to 0 takes no right.
void protect_from_memory_killer() {
  bool written = false;
  for (const char* score : {"-900", "0"}) {
    if (!written) write_own("/proc/self/oom_score_adj", score, written);
  }
}

// Calls that systemd's filter forbids are made only where there is something to reset.
void reset_priority() {
  errno = 0;
  if (::getpriority(PRIO_PROCESS, 0) != 0 || errno != 0) ::setpriority(PRIO_PROCESS, 0, 0);
  if (::sched_getscheduler(0) != SCHED_OTHER) {
    const sched_param none = {};
    ::sched_setscheduler(0, SCHED_OTHER, &none);
  }
}

// A timer, an ignored or a blocked signal survives exec. daemon_process.cpp decides later which
// signals are taken.
void reset_signals(bool deaf) {
  const itimerval none = {};
  for (const auto timer : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
    ::setitimer(timer, &none, nullptr);
  }
  ::prctl(PR_SET_PDEATHSIG, 0);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  // From here on a file that may not grow fails to be written, and a reader that is gone is an
  // error of the call; neither ends the process.
  for (const int signal : {SIGXFSZ, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU}) ::signal(signal, SIG_IGN);
  sigset_t blocked;
  deaf ? sigfillset(&blocked) : sigemptyset(&blocked);
  ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
}

// A journal must never become descriptor 2, where log lines would be written into it.
bool open_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != fd) return false;
  }
  return true;
}

}  // namespace

void raise_limits(std::vector<std::string>& could_not) {
  for (const Limit& limit : kLimits) raise_limit(limit, could_not);
}

void clear_environment() {
  constexpr const char* kKept[] = {
      "HYPERMILE_STATE",      "HYPERMILE_SOCKET",   "HYPERMILE_READ_ONLY", "HYPERMILE_NVML",
      "HYPERMILE_DATA",       "HYPERMILE_SIM_GPUS", "HYPERMILE_SIM_SPEED", "HYPERMILE_SIM_STATE",
      "HYPERMILE_SIM_FAULTS", "NOTIFY_SOCKET",      "WATCHDOG_USEC",       "WATCHDOG_PID",
      "JOURNAL_STREAM",       "ASAN_OPTIONS",       "UBSAN_OPTIONS",       "TSAN_OPTIONS"};
  std::vector<std::pair<std::string, std::string>> kept;
  for (const char* name : kKept) {
    if (const char* value = std::getenv(name)) kept.emplace_back(name, value);
  }
  ::clearenv();
  for (const auto& [name, value] : kept) ::setenv(name.c_str(), value.c_str(), 1);
  ::setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
}

Result<void> reset_inherited(bool deaf) {
  if (!open_standard_descriptors()) {
    return Error{ErrorCode::kIo, fmt::format("cannot open /dev/null: {}", std::strerror(errno))};
  }
  reset_signals(deaf);
  std::vector<std::string> too_low;
  raise_limits(too_low);
  if (!too_low.empty()) {
    return Error{ErrorCode::kPermission,
                 fmt::format("this process could not restore a GPU under the limit{} {}",
                             too_low.size() > 1 ? "s" : "", fmt::join(too_low, ", ")),
                 "raise the limit (see 'ulimit -a'), or run the daemon"};
  }
  set_thread_stacks();
  protect_from_memory_killer();
  reset_priority();
  clear_environment();
  ::umask(077);
  if (::chdir("/") != 0) {
    return Error{ErrorCode::kIo,
                 fmt::format("cannot change to the folder /: {}", std::strerror(errno))};
  }
  return {};
}

}  // namespace hypermile
