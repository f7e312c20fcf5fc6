// SPDX-License-Identifier: Apache-2.0
//
// Tells whether a signal that reached us was sent to us alone or to our whole process group, in
// which case the job has it already. The kernel does not say so. A witness does: a small process of
// ours in the same group that blocks every signal and reports which ones it got. It does nothing
// else, and it dies with us. JobWatch asks it, on its own thread.
//
// A batch system that cancels a job step signals every process of it, one by one. That counts as a
// signal to the group, rightly, because the job gets it as well. Signals of one number that
// come faster than they are handled may be merged by the kernel for one process and not for
// another; the job may then get one of them twice, never too few.
#pragma once

#include <sys/types.h>
#include <csignal>

#include <array>
#include <cstdint>

#include "base/descriptor.h"

namespace hypermile {

// How often each signal came, by its number.
using SignalCounts = std::array<std::uint8_t, NSIG>;

class SignalWitness {
 public:
  // Make it when the signals to be judged are blocked and before the job is started. Where no
  // process can be started, it never sees anything.
  SignalWitness();
  ~SignalWitness();
  SignalWitness(const SignalWitness&) = delete;
  SignalWitness& operator=(const SignalWitness&) = delete;

  // The signals that the witness got since the last call, including those that are being sent to
  // the group at this moment. Older ones than 0.2 s are left out, because we have not just read the
  // same signal. Empty if the witness does not answer within a second; it is never asked again
  // then.
  SignalCounts take();

 private:
  Descriptor socket_;
  pid_t pid_ = -1;
};

// Returns when every signal that was being sent to our process group has reached all of its
// members.
void await_group_delivery();

}  // namespace hypermile
