// SPDX-License-Identifier: Apache-2.0
//
// SIGINT, SIGTERM and SIGHUP as a stop token, so that a command can end its loop and tidy up. The
// signals are blocked for the whole process and read by a separate thread, so no code runs in a
// signal handler. SIGPIPE is ignored: writing into a closed pipe fails like any other write.
#pragma once

#include <stop_token>
#include <thread>

#include "base/descriptor.h"
#include "run/signal_state.h"

namespace hypermile {

// Make one, before any other thread.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

  // Ends the watch; the signals stay blocked for the caller to read. Returns the state that this
  // process inherited, for the programs that it starts.
  SignalState hand_over();

 private:
  void end_thread();

  SignalState inherited_ = SignalState::current();
  std::stop_source stop_;
  Descriptor wake_;  // an eventfd; writing to it ends the thread
  std::thread thread_;
};

}  // namespace hypermile
