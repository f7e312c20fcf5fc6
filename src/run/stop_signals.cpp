// SPDX-License-Identifier: Apache-2.0
#include "run/stop_signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <csignal>

#include <cstdint>

namespace hypermile {
namespace {

constexpr int kSameSignalMs = 100;

sigset_t stopping_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return set;
}

void wait_for_signal(int signals, int wake, const std::stop_source& stop) {
  pollfd watched[] = {{signals, POLLIN, 0}, {wake, POLLIN, 0}};
  while (::poll(watched, 2, -1) < 0) {
  }
  if ((watched[0].revents & POLLIN) != 0) {
    stop.request_stop();
    // A second signal ends the process as usual: who sends two does not want to wait. timeout(1)
    // and batch systems send one to the process and one to its group, which are one.
    const bool over = ::poll(&watched[1], 1, kSameSignalMs) > 0;
    signalfd_siginfo taken{};
    while (::read(signals, &taken, sizeof(taken)) > 0) {
    }
    const sigset_t set = stopping_signals();
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    if (!over) ::poll(&watched[1], 1, -1);
  }
  ::close(signals);
}

}  // namespace

StopSignals::StopSignals() {
  ::signal(SIGPIPE, SIG_IGN);
  const sigset_t set = stopping_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const int signals = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  wake_.reset(::eventfd(0, EFD_CLOEXEC));
  thread_ = std::thread(wait_for_signal, signals, wake_.get(), stop_);
}

StopSignals::~StopSignals() {
  end_thread();
}

SignalState StopSignals::hand_over() {
  end_thread();
  return inherited_;
}

void StopSignals::end_thread() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  if (::write(wake_.get(), &one, sizeof(one)) == sizeof(one)) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

}  // namespace hypermile
