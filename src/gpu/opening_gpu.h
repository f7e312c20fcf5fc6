// SPDX-License-Identifier: Apache-2.0
//
// A Gpu that is being opened while others go on: the first call waits for it, and a card that hangs
// when it is opened delays nobody else. The daemon opens all cards of a machine this way at once.
//
// An opening that failed is tried again by the next call.
#pragma once

#include <functional>
#include <future>
#include <memory>

#include "gpu/deadline_gpu.h"
#include "gpu/gpu.h"

namespace hypermile {

// Used by one thread at a time.
class OpeningGpu final : public Gpu {
 public:
  using Opener = std::function<Result<std::unique_ptr<DeadlineGpu>>()>;

  // Starts the opener on a thread of its own; `identity` is known from the list of GPUs. The opener
  // has a deadline, and so has the destructor, which waits for it.
  OpeningGpu(GpuIdentity identity, Opener opener);

  const GpuIdentity& identity() const override { return identity_; }
  // Waits, too; empty while the GPU cannot be opened.
  const Capabilities& capabilities() const override;
  Result<Sample> read(SensorSet wanted) override;
  Result<std::vector<TimedPower>> power_history(Instant after) override;
  Result<ActivityMetrics> activity() override;
  Result<std::vector<GpuProcess>> processes() override;
  ApplyOutcome apply(const Setting& setting) override;
  Result<void> reset(Knob knob) override;
  CallTimes call_times() const override { return gpu_ ? gpu_->call_times() : CallTimes(); }

  // As DeadlineGpu's: no call that was given up on may still take effect.
  bool settled() const { return !gpu_ || gpu_->settled(); }

 private:
  Result<DeadlineGpu*> opened() const;

  GpuIdentity identity_;
  Opener opener_;
  mutable std::future<Result<std::unique_ptr<DeadlineGpu>>> opening_;  // invalid once taken
  mutable std::unique_ptr<DeadlineGpu> gpu_;
};

}  // namespace hypermile
