// SPDX-License-Identifier: Apache-2.0
//
// Somebody who follows a job through the eyes of a Session and makes its Windows in the Session's
// place, because they know what the GPUs were told and when: the Controller. The Session reads
// rings and sensors; the follower gets what came of it, in order, on the Session's thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/clock.h"
#include "gpu/gpu.h"
#include "measure/gpu_watch.h"
#include "measure/sampler.h"
#include "measure/window.h"
#include "progress/follow/process_progress.h"
#include "record/event.h"

namespace hypermile {

// What a follower hands back to its Session.
class FollowerDesk {
 public:
  virtual ~FollowerDesk() = default;
  // For the book, from which the run is summed up, and the event log. An empty `gpu`: time only.
  virtual void take(const ProcessProgress& process, const GpuUuid& gpu, const Window& window) = 0;
  virtual void write(EventBody body) = 0;
  // One line for a person; the same line is said once.
  virtual void warn(const std::string& line) = 0;
  // What is to be seen of the job from now on.
  virtual void attend(const Attention& attention) = 0;
};

class JobFollower {
 public:
  virtual ~JobFollower() = default;

  // Before anything else. `desk` lives until finish() has returned.
  virtual void start(FollowerDesk& desk) = 0;

  // A GPU that the job uses can be read. It lives as long as the Session.
  virtual void gpu_opened(GpuWatch& gpu) = 0;
  // Told late, by ProgressDelays; `fresh`: no Window may reach over it from before. `gpus`: those
  // of the process that are open; a GPU that is not comes to be told of by gpu_opened().
  virtual void boundary(const ProcessProgress& process, const Boundary& boundary, bool fresh,
                        std::span<GpuWatch* const> gpus) = 0;
  // Told as it is seen, so before the Boundaries that it concerns.
  virtual void progress_changed(const ProcessProgress& process, const ProgressChange& change) = 0;
  virtual void reading(GpuWatch& gpu, const SamplerReading& reading) = 0;
  // Who is on a GPU, every other second. `ours` are the job's processes; empty where none of them
  // was recognised (in a container), and then nobody can be called a stranger.
  virtual void seen_on(GpuWatch& gpu, std::span<const GpuProcess> seen,
                       std::span<const std::int64_t> ours) = 0;

  // Once a round, after all of the above; returns when it wants the next one at the latest.
  virtual Instant step(Instant now) = 0;
  // The job has ended, everything it left has been told: closes Windows, gives GPUs back.
  virtual void finish(Instant now) = 0;
};

}  // namespace hypermile
