// SPDX-License-Identifier: Apache-2.0
//
// Stands between the world and the job while it runs: passes on the signals that are sent to us,
// stops and continues with the job, and tells when it has ended. A thread of its own does it, so
// that nothing we measure can delay a signal.
//
// What a terminal sends (Ctrl-C, Ctrl-\, Ctrl-Z, window size) goes to the whole process group, so
// the job has it already and it is not passed on; nor is what the job itself sent. A signal that
// somebody sends to the whole group by hand reaches the job twice: the kernel does not tell a
// process whether a signal was for it alone.
#pragma once

#include <sys/types.h>

#include <optional>
#include <stop_token>
#include <thread>

#include "base/job_end.h"

namespace hypermile {

// Holds back, for the whole process, every signal that can be passed on. Made before the job is
// started and before any thread, so that none is lost and none ends us.
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
  // Waits for the job's end.
  ~JobWatch();
  JobWatch(const JobWatch&) = delete;
  JobWatch& operator=(const JobWatch&) = delete;

  // Requested when the job has ended.
  std::stop_token ended() const { return ended_.get_token(); }
  // Blocks until then.
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
