// SPDX-License-Identifier: Apache-2.0
//
// The progress of a whole job. Every process that uses CUDA or ticks puts a ring into one folder;
// this class finds the processes, follows them, and lets go of them when they end. A job may start
// any number of processes: RingFolder::kMostRings bounds those followed at once, kKeptEnded those
// remembered. One thread.
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

  // In order of appearance. Of the ended ones, those with the most launches and iterations stay in
  // the list, kKeptEnded of them.
  const std::vector<std::unique_ptr<ProcessProgress>>& processes() const { return processes_; }
  static constexpr std::size_t kKeptEnded = 32;
  // Ended processes that are no longer in the list.
  struct Forgotten {
    std::uint64_t processes = 0;
    std::uint64_t launches = 0;
  };
  const Forgotten& forgotten() const { return forgotten_; }
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
  void settle_ended(Instant now);
  void forget_least();

  RingFolder& folder_;
  ProgressSink& sink_;
  ProgressDelays delays_;
  std::vector<std::unique_ptr<ProcessProgress>> processes_;
  std::vector<Held> held_;
  std::size_t settled_ = 0;  // of the processes in the list
  Forgotten forgotten_;
  std::optional<Instant> looked_;
  Attention attention_;
};

}  // namespace hypermile
