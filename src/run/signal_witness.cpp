// SPDX-License-Identifier: Apache-2.0
#include "run/signal_witness.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <string>

#include "base/proc_file.h"

namespace hypermile {
namespace {

constexpr int kUsuallyMs = 100;    // an answer takes 0.05 ms on an idle machine
constexpr int kPatienceMs = 1000;  // a loaded machine; a signal to us alone then waits as long

// What the witness got longer ago is not the twin of a signal that we read now. Taking it for one
// would keep a signal from the job, which is worse than giving it one twice.
constexpr std::int64_t kFreshMs = 200;

std::int64_t monotonic_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// Where the kernel finds the command line of this process, as numbers in /proc/self/stat.
struct CommandLine {
  char* begin = nullptr;
  std::size_t length = 0;
};

CommandLine own_command_line() {
  constexpr int kFieldsBefore = 45;  // from the state behind the name to arg_start, see proc(5)
  const std::string stat = read_proc_file(::getpid(), "stat").value_or("");
  std::size_t at = stat.rfind(')');
  for (int field = 0; field <= kFieldsBefore && at != stat.npos; ++field)
    at = stat.find(' ', at + 1);
  unsigned long long begin = 0;
  unsigned long long end = 0;
  if (at == stat.npos || std::sscanf(stat.c_str() + at, "%llu %llu", &begin, &end) != 2) return {};
  return {reinterpret_cast<char*>(begin), end > begin ? end - begin : 0};
}

// The witness. Runs between fork and exec for ever, so only async-signal-safe calls are made.
[[noreturn]] void testify(int socket, const CommandLine& name) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Not found by `pkill hypermile`, which means us: the witness would take it for the whole group.
  // Whoever sees the new name no longer sees the old command line.
  if (name.length > 0) std::memset(name.begin, 0, name.length);
  ::prctl(PR_SET_NAME, "signal-witness");
  const int kept = ::dup2(socket, STDIN_FILENO);
  ::close_range(STDIN_FILENO + 1, ~0U, 0);
  sigset_t every;
  sigfillset(&every);
  sigdelset(&every, SIGCONT);  // take() uses it; and nobody asks about it
  ::sigprocmask(SIG_SETMASK, &every, nullptr);
  const int signals = ::signalfd(-1, &every, SFD_NONBLOCK);
  std::int64_t got_at[NSIG] = {};  // milliseconds
  std::uint8_t seen[NSIG] = {};
  for (;;) {
    pollfd ready[] = {{signals, POLLIN, 0}, {kept, POLLIN, 0}};
    ::poll(ready, 2, -1);
    signalfd_siginfo got{};
    while (::read(signals, &got, sizeof(got)) == sizeof(got))
      if (got.ssi_signo < NSIG) {
        const std::int64_t now = monotonic_ms();
        if (now - got_at[got.ssi_signo] >= kFreshMs) seen[got.ssi_signo] = 0;
        got_at[got.ssi_signo] = now;
        ++seen[got.ssi_signo];
      }
    if (ready[1].revents == 0) continue;
    char asked = 0;
    if (::read(kept, &asked, 1) != 1) ::_exit(0);
    for (int signal = 1; signal < NSIG; ++signal)
      if (monotonic_ms() - got_at[signal] >= kFreshMs) seen[signal] = 0;
    if (::write(kept, &seen, sizeof(seen)) != sizeof(seen)) ::_exit(0);
    std::memset(&seen, 0, sizeof(seen));
  }
}

}  // namespace

SignalWitness::SignalWitness() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  socket_.reset(ends[0]);
  const Descriptor theirs(ends[1]);
  const CommandLine name = own_command_line();
  pid_ = ::fork();
  if (pid_ == 0) testify(theirs.get(), name);
  if (pid_ < 0) socket_.reset();
}

SignalWitness::~SignalWitness() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

SignalCounts SignalWitness::take() {
  SignalCounts seen = {};
  if (!socket_) return seen;
  await_group_delivery();
  const char ask = '?';
  if (::send(socket_.get(), &ask, 1, MSG_NOSIGNAL) != 1) return seen;
  pollfd answer{socket_.get(), POLLIN, 0};
  if (::poll(&answer, 1, kUsuallyMs) == 0) {
    // It may have been stopped with the group. Not sent at once, because it clears stop signals.
    ::kill(pid_, SIGCONT);
  }
  if (::poll(&answer, 1, kPatienceMs) != 1 ||
      ::recv(socket_.get(), &seen, sizeof(seen), MSG_DONTWAIT) != sizeof(seen)) {
    seen = {};
    socket_.reset();  // a late answer would be taken for that to another question
  }
  return seen;
}

// The kernel sends to a group under the lock of its list of processes, and setpgid() takes the same
// lock for writing. So this call, which changes nothing, waits until the sending is over.
void await_group_delivery() {
  ::setpgid(0, ::getpgrp());
}

}  // namespace hypermile
