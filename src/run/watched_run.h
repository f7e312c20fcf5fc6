// SPDX-License-Identifier: Apache-2.0
//
// The composition root: the one place where the parts of a run beside a living job are made and
// joined.
//
//   Session      reads the job's rings and its GPUs' sensors, and calls everything below
//   Controller   decides about clocks; absent where the run only observes
//   LeasePort    asks the daemon or a guardian for those clocks
//   model, JobCache, CounterProcess   predict, remember and explain, where the request wants them
//   JobReport    event log, live line, page, summary
//
// run_job.h and attach_job.h use it. Nothing that fails here reaches the job: it becomes one line
// for a person. Every GPU is given back before watch() returns.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "control/controller.h"
#include "control/job_cache.h"
#include "control/job_memory.h"
#include "control/lease_port.h"
#include "control/session.h"
#include "measure/host_energy.h"
#include "predict/counters/counter_process.h"
#include "run/clock_access.h"
#include "run/environment_variables.h"
#include "run/job_outcome.h"
#include "run/job_report.h"
#include "run/run_gpus.h"
#include "run/run_request.h"

namespace hypermile {

struct JobToWatch {
  RingFolder& folder;
  const Environment& environment;  // the job's
  std::stop_token ended;
  std::vector<DeviceName> gpus = {};  // watched even if no process of the job names them
  std::stop_token interrupted = {};   // see SessionParts
};

class WatchedRun {
 public:
  // `request` and what `world` refers to must outlive it.
  WatchedRun(const RunRequest& request, const RunWorld& world);

  JobReport& report() { return report_; }

  // Watches until the job has ended or its sweep is over; call it once. `access` counts unless the
  // request is to observe.
  JobOutcome watch(const JobToWatch& job, ClockAccess access);

  // Every setting of the sweep is measured; false where the request holds no sweep.
  bool sweep_complete() const;

 private:
  void make_controller(const JobToWatch& job, ClockAccess access);
  PredictForPhase predictor();
  CounterProgram counter_program(const JobToWatch& job) const;
  void open_cache(const std::string& path);

  SessionParts session_parts(const JobToWatch& job, const RunGpus& gpus);
  static SessionOptions session_options(const JobToWatch& job, const RunGpus& gpus);
  std::function<void()> each_second();
  void show_sweep();

  void give_back();
  void remember();
  JobOutcome outcome_of(const Session& session) const;

  const RunRequest& request_;
  RunWorld world_;
  JobReport report_;
  std::stop_source over_;         // the job has ended, or nothing is left to do beside it
  std::optional<Error> refused_;  // why clocks may not be changed
  std::unique_ptr<Files> files_;
  HostEnergy host_;
  std::optional<JobCache> cache_;
  std::optional<JobMemory> memory_;
  std::optional<LeasePort> port_;
  std::optional<CounterProcess> counters_;
  std::optional<Controller> controller_;
};

}  // namespace hypermile
