// SPDX-License-Identifier: Apache-2.0
//
// A Gpu that opens in the background: its first call waits for the opening, so a card that hangs
// while it opens delays no other card. The daemon opens all cards of a machine at once this way. If
// the opening fails, the next call tries again.
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

  // Starts the opener on its own thread; `identity` is known from the list of GPUs. The opener must
  // have a deadline, because the destructor waits for it.
  OpeningGpu(GpuIdentity identity, Opener opener);

  const GpuIdentity& identity() const override { return identity_; }
  // Waits for the opening; empty if the GPU cannot be opened.
  const Capabilities& capabilities() const override;
  Result<Sample> read(SensorSet wanted) override;
  Result<std::vector<TimedPower>> power_history(Instant after) override;
  Result<ActivityMetrics> activity() override;
  Result<std::vector<GpuProcess>> processes() override;
  ApplyOutcome apply(const Setting& setting) override;
  Result<void> reset(Knob knob) override;
  CallTimes call_times() const override { return gpu_ ? gpu_->call_times() : CallTimes(); }

  // See DeadlineGpu: false while a call that timed out may still take effect.
  bool settled() const { return !gpu_ || gpu_->settled(); }

 private:
  Result<DeadlineGpu*> opened() const;

  GpuIdentity identity_;
  Opener opener_;
  // Invalid once its result was taken.
  mutable std::future<Result<std::unique_ptr<DeadlineGpu>>> opening_;
  mutable std::unique_ptr<DeadlineGpu> gpu_;
};

}  // namespace hypermile
