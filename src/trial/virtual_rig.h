// SPDX-License-Identifier: Apache-2.0
//
// One job in virtual time under everything that a living job gets: its process writes a ring, a
// Session reads the ring and the cards' sensors, a Controller moves the clocks, and an event log
// keeps what happened. `simulate`, `demo`, `evaluate --controller`, `sweep` in virtual time, the
// evidence programs and the tests of Session and Controller run on it.
//
//   VirtualRig rig(clock, job, {.control = options});
//   while (job_runs) rig.step();
//   rig.finish();  // every card is back at its default
//
// Nothing here fails or depends on the machine: equal jobs and terms give equal logs. One thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "control/controller.h"
#include "control/direct_port.h"
#include "control/session.h"

namespace hypermile {

// Cards, and the process that trains on them.
class VirtualJob {
 public:
  virtual ~VirtualJob() = default;
  // Card i is what the process calls device i. The cards live as long as the job.
  virtual std::vector<Gpu*> cards() = 0;
  virtual RingFolder& folder() = 0;
  // Brings the job up to `now`; everything it did since the last call is then in its ring.
  virtual void play(Instant now) = 0;
};

using MakePhasePolicy = decltype(ControllerParts::make_policy);

struct RigTerms {
  std::optional<ControllerOptions> control = {};    // absent: a Session alone, and no clock moves
  MakePhasePolicy make_policy = {};                 // for the Controller; may be empty
  PredictForPhase predict = {};                     // for the Controller; may be empty
  PerformanceCounters* counters = nullptr;          // for the Controller; may be null
  std::unique_ptr<LineSink> sink = nullptr;         // of the event log; may be null
  std::function<void(const Event&)> listener = {};  // gets every event; may be empty
  std::function<void(const std::string&)> warn = {};
  OpenGpu open_gpu = {};        // empty: the job's cards, which open at once
  SettingPort* port = nullptr;  // null: the job's cards are set directly
  SessionOptions session = {};
};

class VirtualRig {
 public:
  // `clock`, `job` and what `terms` refers to must outlive it.
  VirtualRig(VirtualClock& clock, VirtualJob& job, RigTerms terms);
  VirtualRig(const VirtualRig&) = delete;
  VirtualRig& operator=(const VirtualRig&) = delete;

  // One round: the job goes on to now, the Session takes what came of it, and the clock jumps to
  // the next round.
  void step();
  // The job has ended: closes every window and gives the cards back.
  void finish() { session_.finish(); }

  EventLog& log() { return log_; }
  Session& session() { return session_; }
  Controller& controller() { return *controller_; }  // only with RigTerms::control
  // The setting that the first card was told last; absent before any, or with a port of its own.
  const std::optional<Setting>& told() const { return direct_.told(); }

 private:
  SessionParts session_parts();

  VirtualClock& clock_;
  VirtualJob& job_;
  RigTerms terms_;
  EventLog log_;
  DirectPort direct_;
  std::optional<Controller> controller_;
  Session session_;
};

}  // namespace hypermile
