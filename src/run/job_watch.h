// SPDX-License-Identifier: Apache-2.0
//
// While the job runs: passes on the signals that are sent to us, stops and continues together with
// the job, and notices its end. A separate thread does this, so that measuring cannot delay a
// signal.
//
// A terminal sends its signals (Ctrl-C, Ctrl-\, Ctrl-Z, window size) to the whole process group, so
// the job has them already and they are not passed on; nor are signals that the job itself sent. A
// signal that somebody sends to the whole group by hand reaches the job twice, because the kernel
// does not tell a process whether a signal was for it alone.
#pragma once

#include <sys/types.h>

#include <optional>
#include <stop_token>
#include <thread>

#include "base/job_end.h"

namespace hypermile {

// Blocks, for the whole process, every signal that can be passed on. Make it before the job is
// started and before any thread, so that no signal is lost and none ends us.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  int descriptor() const { return descriptor_; }  // a signalfd

 private:
  int descriptor_ = -1;
};

class JobWatch {
 public:
  // `signals` must outlive this; `job` is a child that nobody else waits for.
  JobWatch(pid_t job, const HeldSignals& signals);
  // Waits until the job has ended.
  ~JobWatch();
  JobWatch(const JobWatch&) = delete;
  JobWatch& operator=(const JobWatch&) = delete;

  // Requested when the job has ended.
  std::stop_token ended() const { return ended_.get_token(); }
  // Waits until the job has ended, and returns how.
  JobEnd wait();

 private:
  void watch(int signals);
  bool reap(int options);
  void stop_like_the_job(int signal);

  pid_t job_;
  bool stopped_ = false;
  JobEnd end_;
  std::stop_source ended_;
  std::thread thread_;
};

}  // namespace hypermile
