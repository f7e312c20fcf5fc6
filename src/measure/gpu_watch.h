// SPDX-License-Identifier: Apache-2.0
//
// One GPU that the job uses: opened without holding up the loop, polled through a Sampler, its
// readings kept for as long as a Window may still ask for them. A GPU that fails is retried after a
// pause, and what it said is remembered.
#pragma once

#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "gpu/gpu.h"
#include "measure/sampler.h"

namespace hypermile {

// For whoever makes Windows: a read of the counter so long after a Boundary tells of a step behind
// it, of a counter that moves every 100 ms; and readings from so long before one fix the energy
// there.
inline constexpr Seconds kStepBehind = milliseconds(150);
inline constexpr Seconds kReadingsBefore = Seconds(5);

// What a process of the job calls a GPU: CUDA's number among those visible to it.
struct DeviceName {
  std::optional<std::string> visible;  // CUDA_VISIBLE_DEVICES of the process, where it is set
  std::uint32_t device = 0;
  auto operator<=>(const DeviceName&) const = default;
};

// Opens it without blocking: NVML may take seconds. The future is asked now and then.
using OpenGpu = std::function<std::future<Result<std::shared_ptr<Gpu>>>(const DeviceName&)>;

class GpuWatch {
 public:
  // `clock` must outlive it.
  GpuWatch(DeviceName name, const OpenGpu& open, Clock& clock, const SamplerOptions& options);

  // Reads what is due, without waiting for it: gives what was read by now, if anything.
  std::optional<SamplerReading> poll(Instant now);
  // All that is left to be told at the end, due or not.
  std::vector<SamplerReading> poll_last(Instant now);
  // A Window begins or ends then, as far as can be told: its energy is known best if the counter is
  // read. Nothing before the GPU is opened.
  void want_counter_at(Instant time);
  Instant due() const;

  const DeviceName& name() const { return name_; }
  const Clock& clock() const { return clock_; }
  bool opened() const { return sampler_ != nullptr; }
  const GpuIdentity& identity() const { return gpu_->identity(); }           // once opened
  const Capabilities& capabilities() const { return gpu_->capabilities(); }  // likewise
  Gpu& gpu() { return *gpu_; }                                               // likewise
  // Readings of the last seconds.
  const std::deque<SamplerReading>& recent() const { return recent_; }
  const std::optional<Error>& problem() const { return problem_; }  // the last one
  // The last read failed: it is tried again after a pause.
  bool failing() const { return try_again_.has_value(); }

  // From the first reading of the energy counter to the last.
  std::optional<Joules> energy() const;

 private:
  void take_opened();
  void remember(const SamplerReading& reading, Instant now);

  DeviceName name_;
  std::future<Result<std::shared_ptr<Gpu>>> opening_;
  Clock& clock_;
  SamplerOptions options_;
  std::shared_ptr<Gpu> gpu_;
  std::unique_ptr<Sampler> sampler_;
  std::deque<SamplerReading> recent_;
  std::optional<Instant> try_again_;
  std::optional<Error> problem_;
  std::optional<Joules> first_energy_, last_energy_;
};

}  // namespace hypermile
