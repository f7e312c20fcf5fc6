// SPDX-License-Identifier: Apache-2.0
//
// A simulated job whose progress is followed and whose card is sampled as a Session does it,
// without windows or clocks that anybody moves: what the evidence on iterations and on windows has
// in common.
#pragma once

#include <memory>

#include "measure/gpu_watch.h"
#include "progress/follow/job_progress.h"
#include "trial/simulated_training.h"

namespace hypermile {

class WatchedJob final : public ProgressSink {
 public:
  // What comes of the job, in order of time.
  class Sink {
   public:
    virtual ~Sink() = default;
    virtual void boundary(const Boundary& boundary, bool fresh) = 0;
    virtual void changed(const ProcessProgress& process, const ProgressChange& change) = 0;
    virtual void reading(const SamplerReading& reading) = 0;
  };

  // `sink` must outlive it. kIo where no ring can be made.
  static Result<std::unique_ptr<WatchedJob>> start(const SimulatedJob& job, Sink& sink);

  // One round of 20 ms, or less where the card is due earlier.
  void step();
  void step_until(Instant until);
  // Passes on everything that is held back.
  void finish();

  Instant now() const { return clock_.now(); }
  SimGpu& card() { return training_->card(); }
  GpuWatch& watch() { return *watch_; }
  TrueTotals totals() { return training_->totals(); }

 private:
  WatchedJob(const SimulatedJob& job, Sink& sink) : job_(job), sink_(sink) {}

  void boundary(const ProcessProgress&, const Boundary& boundary, bool fresh) override {
    sink_.boundary(boundary, fresh);
  }
  void changed(const ProcessProgress& process, const ProgressChange& change) override {
    sink_.changed(process, change);
  }

  SimulatedJob job_;
  Sink& sink_;
  VirtualClock clock_;
  std::unique_ptr<SimulatedTraining> training_;
  std::unique_ptr<GpuWatch> watch_;
  std::unique_ptr<JobProgress> progress_;
};

}  // namespace hypermile
