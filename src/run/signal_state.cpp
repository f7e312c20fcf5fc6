// SPDX-License-Identifier: Apache-2.0
#include "run/signal_state.h"

namespace hypermile {
namespace {

bool ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

SignalState SignalState::current() {
  SignalState state;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &state.mask_);
  state.pipe_ignored_ = ignored(SIGPIPE);
  state.child_ignored_ = ignored(SIGCHLD);
  return state;
}

void SignalState::restore() const {
  ::signal(SIGPIPE, pipe_ignored_ ? SIG_IGN : SIG_DFL);
  ::signal(SIGCHLD, child_ignored_ ? SIG_IGN : SIG_DFL);
  ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
}

}  // namespace hypermile
