// SPDX-License-Identifier: Apache-2.0
//
// While the job runs: passes on the signals that are sent to us, stops and continues together with
// the job, and notices its end. A separate thread does this, so that measuring cannot delay a
// signal.
//
// A terminal sends its signals (Ctrl-C, Ctrl-\, Ctrl-Z, window size) to the whole process group, so
// the job has them already and they are not passed on; nor are signals that the job itself sent,
// nor those that somebody else sent to the whole group (signal_witness.h).
#pragma once

#include <sys/signalfd.h>
#include <sys/types.h>

#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/job_end.h"
#include "run/signal_witness.h"

namespace hypermile {

// Blocks, for the whole process, every signal that can be passed on. Make it before the job is
// started and before any thread, so that no signal is lost and none ends us.
class HeldSignals {
 public:
  HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  // Waits for a signal and returns it; nullopt where none can be read, because no descriptor was
  // left for us.
  std::optional<signalfd_siginfo> wait_for_one();
  // Of `first` and of all that have arrived since, those that were sent to us and not to the whole
  // group.
  std::vector<signalfd_siginfo> sent_to_us(const signalfd_siginfo& first);

 private:
  // Those that are there, without waiting.
  std::vector<signalfd_siginfo> arrived() const;

  Descriptor descriptor_;  // a signalfd that does not block
  SignalWitness witness_;
};

class JobWatch {
 public:
  // `signals` must outlive this; `job` is a child that nobody else waits for.
  JobWatch(pid_t job, HeldSignals& signals);
  // Waits until the job has ended.
  ~JobWatch();
  JobWatch(const JobWatch&) = delete;
  JobWatch& operator=(const JobWatch&) = delete;

  // Requested when the job has ended.
  std::stop_token ended() const { return ended_.get_token(); }
  // Waits until the job has ended, and returns how.
  JobEnd wait();

 private:
  void watch(HeldSignals& signals);
  bool take(const signalfd_siginfo& signal);
  bool reap(int options);
  void stop_like_the_job(int signal);

  pid_t job_;
  bool stopped_ = false;
  JobEnd end_;
  std::stop_source ended_;
  std::thread thread_;
};

}  // namespace hypermile
