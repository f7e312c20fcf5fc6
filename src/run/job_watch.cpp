// SPDX-License-Identifier: Apache-2.0
#include "run/job_watch.h"

#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <array>
#include <cerrno>

namespace hypermile {
namespace {

// Signals of faults in our own code must reach us at once; KILL and STOP cannot be blocked.
constexpr std::array kOurOwn = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGTRAP,
                                SIGSYS,  SIGABRT, SIGKILL, SIGSTOP, SIGPIPE};

sigset_t held_signals() {
  sigset_t set;
  sigfillset(&set);
  for (const int signal : kOurOwn) sigdelset(&set, signal);
  return set;
}

// Signals sent by kill() have a code of 0 or less; the kernel's (from a terminal) a positive one.
bool for_us_alone(const signalfd_siginfo& signal, pid_t job) {
  return signal.ssi_code <= 0 && static_cast<pid_t>(signal.ssi_pid) != job;
}

void pass_on(const signalfd_siginfo& signal, pid_t job) {
  const int number = static_cast<int>(signal.ssi_signo);
  if (signal.ssi_code == SI_QUEUE) {
    sigval value{};
    value.sival_ptr = reinterpret_cast<void*>(signal.ssi_ptr);
    ::sigqueue(job, number, value);
  } else {
    ::kill(job, number);
  }
}

}  // namespace

HeldSignals::HeldSignals() {
  // If our parent ignored SIGCHLD we inherited that, and an ended job would vanish without a trace.
  ::signal(SIGCHLD, SIG_DFL);
  const sigset_t set = held_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  descriptor_ = ::signalfd(-1, &set, SFD_CLOEXEC);
}

HeldSignals::~HeldSignals() {
  ::close(descriptor_);
}

JobWatch::JobWatch(pid_t job, const HeldSignals& signals) : job_(job) {
  thread_ = std::thread([this, descriptor = signals.descriptor()] { watch(descriptor); });
}

JobWatch::~JobWatch() {
  if (thread_.joinable()) thread_.join();
}

JobEnd JobWatch::wait() {
  if (thread_.joinable()) thread_.join();
  return end_;
}

void JobWatch::watch(int signals) {
  // The job may have ended or stopped before the first signal is read.
  while (!reap(WNOHANG)) {
    signalfd_siginfo signal{};
    if (::read(signals, &signal, sizeof(signal)) != sizeof(signal)) {
      if (errno == EINTR) continue;
      // Without a signalfd (no descriptor was left) we can still wait for the job's end.
      while (!reap(0)) {
      }
      break;
    }
    if (signal.ssi_signo == SIGCHLD) continue;
    if (signal.ssi_signo == SIGCONT) {
      // Usually the whole group was continued; the job gets the signal only if it still stands.
      if (reap(WNOHANG)) break;
      if (stopped_) ::kill(job_, SIGCONT);
    } else if (for_us_alone(signal, job_)) {
      pass_on(signal, job_);
    }
  }
  ended_.request_stop();
}

// Takes all changes of the job's state that are there; with 0 for `options`, waits for one. Returns
// true when the job has ended.
bool JobWatch::reap(int options) {
  while (true) {
    siginfo_t info{};
    const int done =
        ::waitid(P_PID, static_cast<id_t>(job_), &info, WEXITED | WSTOPPED | WCONTINUED | options);
    if (done != 0 && errno == EINTR) continue;
    // Somebody else has waited for the job, so how it ended cannot be known.
    if (done != 0) return true;
    if (info.si_pid == 0) return false;
    switch (info.si_code) {
      case CLD_EXITED:
        end_ = JobEnd{info.si_status, std::nullopt};
        return true;
      case CLD_KILLED:
      case CLD_DUMPED:
        end_ = JobEnd{0, info.si_status};
        return true;
      case CLD_STOPPED:
        stopped_ = true;
        stop_like_the_job(info.si_status);
        break;
      default:
        stopped_ = false;
    }
  }
}

// The shell waits for us, not for the job, so it sees the stop only if we stop too, by the same
// signal. We raise it while it is blocked; the terminal may have sent one as well. The first that
// acts stops us, and being continued clears the other.
void JobWatch::stop_like_the_job(int signal) {
  sigset_t only;
  sigemptyset(&only);
  if (signal != SIGSTOP) sigaddset(&only, signal);
  ::raise(signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &only, nullptr);
}

}  // namespace hypermile
