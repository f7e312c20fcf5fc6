// SPDX-License-Identifier: Apache-2.0
//
// The progress of a whole job. Every process that uses CUDA or ticks puts a ring into one folder;
// this class finds the processes, follows them, and lets go of them when they end. One thread.
#pragma once

#include <memory>
#include <vector>

#include "inject/ring_folder.h"
#include "progress/follow/process_progress.h"

namespace hypermile {

class JobProgress {
 public:
  // Both references must outlive this object.
  JobProgress(RingFolder& folder, ProgressSink& sink, const ProgressDelays& delays = {});

  // Sets how closely the processes are watched (watch_duty.h).
  void attend(const Attention& attention);

  // Looks for new processes, reads what all processes wrote, and releases those that have ended.
  void poll(Instant now);
  // Called once, when the run is over.
  void finish(Instant now);

  // In order of appearance; ended processes stay in the list.
  const std::vector<std::unique_ptr<ProcessProgress>>& processes() const { return processes_; }
  // The process with the most launches.
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
