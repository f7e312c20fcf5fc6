// SPDX-License-Identifier: Apache-2.0
#include "run/job_watch.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <array>
#include <cerrno>

namespace hypermile {
namespace {

// Signals of faults in our own code must reach us at once; KILL and STOP cannot be blocked.
constexpr std::array kOurOwn = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGTRAP,
                                SIGSYS,  SIGABRT, SIGKILL, SIGSTOP, SIGPIPE};

// Whoever signals the processes of a job in turn has come to all of them by then, on a loaded
// machine too. A signal to us alone reaches the job so much later, which no grace period notices.
constexpr useconds_t kOneByOneUs = 100'000;
constexpr int kMostRounds = 100;  // of asking the witness, where signals keep coming

sigset_t held_signals() {
  sigset_t set;
  sigfillset(&set);
  for (const int signal : kOurOwn) sigdelset(&set, signal);
  return set;
}

// Signals sent by kill() have a code of 0 or less; the kernel's (from a terminal) a positive one.
// SIGCHLD and SIGCONT are about the job's state.
bool may_be_for_us_alone(const signalfd_siginfo& signal, pid_t job) {
  return signal.ssi_code <= 0 && static_cast<pid_t>(signal.ssi_pid) != job &&
         signal.ssi_signo != SIGCHLD && signal.ssi_signo != SIGCONT;
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

int hold_signals() {
  // If our parent ignored SIGCHLD we inherited that, and an ended job would vanish without a trace.
  ::signal(SIGCHLD, SIG_DFL);
  const sigset_t set = held_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

}  // namespace

// The witness starts with the signals blocked already.
HeldSignals::HeldSignals() : descriptor_(hold_signals()) {}

std::optional<signalfd_siginfo> HeldSignals::wait_for_one() {
  for (;;) {
    signalfd_siginfo signal{};
    if (::read(descriptor_.get(), &signal, sizeof(signal)) == sizeof(signal)) return signal;
    pollfd ready{descriptor_.get(), POLLIN, 0};
    const bool can_wait = (errno == EAGAIN || errno == EINTR) && descriptor_;
    if (!can_wait || (::poll(&ready, 1, -1) < 0 && errno != EINTR)) return std::nullopt;
  }
}

std::vector<signalfd_siginfo> HeldSignals::arrived() const {
  std::vector<signalfd_siginfo> all;
  signalfd_siginfo signal{};
  while (::read(descriptor_.get(), &signal, sizeof(signal)) == sizeof(signal))
    all.push_back(signal);
  return all;
}

// Returns the signals that were sent to us alone. A signal that the witness got as well was sent to
// the whole group, so each signal of the witness removes one of ours. The witness is asked after
// our signals were read, and again until it has no more; otherwise a late signal of the group would
// later remove one that is sent to us alone.
std::vector<signalfd_siginfo> HeldSignals::sent_to_us(const signalfd_siginfo& first) {
  std::vector<signalfd_siginfo> ours;
  std::vector<signalfd_siginfo> open = {first};
  for (int round = 0; round < kMostRounds; ++round) {
    SignalCounts of_group = witness_.take();
    if (round == 0 && of_group[first.ssi_signo] == 0) {
      // It may have been sent to each process in turn, and the witness's turn is still to come.
      ::usleep(kOneByOneUs);
      const SignalCounts later = witness_.take();
      for (std::size_t i = 0; i < later.size(); ++i)
        of_group[i] = static_cast<std::uint8_t>(of_group[i] + later[i]);
    }
    const bool any = std::ranges::any_of(of_group, [](std::uint8_t count) { return count > 0; });
    const auto is_of_group = [&](const signalfd_siginfo& signal) {
      return of_group[signal.ssi_signo] > 0 && of_group[signal.ssi_signo]-- > 0;
    };
    std::erase_if(open, is_of_group);
    ours.insert(ours.end(), open.begin(), open.end());
    await_group_delivery();
    open = arrived();
    std::erase_if(open, is_of_group);
    if (open.empty() && !any) break;
  }
  ours.insert(ours.end(), open.begin(), open.end());
  return ours;
}

JobWatch::JobWatch(pid_t job, HeldSignals& signals) : job_(job) {
  thread_ = std::thread([this, &signals] { watch(signals); });
}

JobWatch::~JobWatch() {
  if (thread_.joinable()) thread_.join();
}

JobEnd JobWatch::wait() {
  if (thread_.joinable()) thread_.join();
  return end_;
}

void JobWatch::watch(HeldSignals& signals) {
  // The job may have ended or stopped before the first signal is read.
  bool over = reap(WNOHANG);
  while (!over) {
    const std::optional<signalfd_siginfo> signal = signals.wait_for_one();
    if (!signal) {
      // We can still wait for the job's end.
      while (!reap(0)) {
      }
      break;
    }
    if (!may_be_for_us_alone(*signal, job_)) {
      over = take(*signal);
      continue;
    }
    for (const signalfd_siginfo& each : signals.sent_to_us(*signal)) over = take(each) || over;
  }
  ended_.request_stop();
}

// Acts on one signal; true when the job has ended.
bool JobWatch::take(const signalfd_siginfo& signal) {
  const bool over = reap(WNOHANG);
  if (over) return true;
  // Usually the whole group was continued; the job gets the signal only if it still stands.
  if (signal.ssi_signo == SIGCONT && stopped_) ::kill(job_, SIGCONT);
  if (may_be_for_us_alone(signal, job_)) pass_on(signal, job_);
  return false;
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
