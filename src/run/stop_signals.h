// SPDX-License-Identifier: Apache-2.0
//
// SIGINT, SIGTERM and SIGHUP as a stop token: a command ends its loop and tidies up. The signals
// are blocked for the whole process and taken by a thread of their own, so that nothing runs in a
// handler. SIGPIPE is ignored: writing into a closed pipe is an error like any other.
#pragma once

#include <stop_token>
#include <thread>

#include "run/signal_state.h"

namespace hypermile {

// Made once, before any other thread.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

  // Ends the watch; the signals stay held back for whoever takes them now. Returns what this
  // process had inherited, for the programs it starts.
  SignalState hand_over();

 private:
  void end_thread();

  SignalState inherited_ = SignalState::current();
  std::stop_source stop_;
  int wake_ = -1;  // an eventfd that ends the thread
  std::thread thread_;
};

}  // namespace hypermile
