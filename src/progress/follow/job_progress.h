// SPDX-License-Identifier: Apache-2.0
//
// How far the whole job has come: every process of it that uses CUDA or ticks leaves a ring in one
// folder, and is found, followed and at its end let go here.
#pragma once

#include <memory>
#include <vector>

#include "inject/ring_folder.h"
#include "progress/follow/process_progress.h"

namespace hypermile {

class JobProgress {
 public:
  // Both must outlive it.
  JobProgress(RingFolder& folder, ProgressSink& sink, const ProgressDelays& delays = {});

  // Whether every launch of every process shall be watched; else, those that matter (watch_duty.h).
  void attend(const Attention& attention);

  // Looks for new processes, takes what all of them wrote, lets go of those that have ended.
  void step(Instant now);
  // The run is over.
  void finish(Instant now);

  // In order of appearance; those that have ended stay.
  const std::vector<std::unique_ptr<ProcessProgress>>& processes() const { return processes_; }
  // The one that launched most.
  const ProcessProgress* main_process() const;

 private:
  struct Held {
    RingReader* ring = nullptr;
    ProcessProgress* process = nullptr;
    bool ended = false;
  };

  void look_for_processes();
  void look_for_ends(Instant now);

  RingFolder& folder_;
  ProgressSink& sink_;
  ProgressDelays delays_;
  std::vector<std::unique_ptr<ProcessProgress>> processes_;
  std::vector<Held> held_;
  std::optional<Instant> looked_;
  Attention attention_;
};

}  // namespace hypermile
