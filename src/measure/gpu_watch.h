// SPDX-License-Identifier: Apache-2.0
//
// Watches one GPU that the job uses: opens it without blocking the loop, polls it through a
// Sampler, and keeps the readings for as long as a Window may need them. The loops of `run`,
// `attach` and the controller own it and call it on their thread. Where a read fails, the watch
// keeps the error and tries again after a pause.
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

// For callers that make Windows. A counter read this long after a Boundary covers a step behind
// that Boundary, on a counter that moves every 100 ms.
inline constexpr Seconds kStepBehind = milliseconds(150);
// Readings from this long before a Boundary are enough to fix the energy there.
inline constexpr Seconds kReadingsBefore = Seconds(5);

// How a process of the job names a GPU: CUDA's index among the devices visible to that process.
struct DeviceName {
  std::optional<std::string> visible;  // CUDA_VISIBLE_DEVICES of the process, where it is set
  std::uint32_t device = 0;
  auto operator<=>(const DeviceName&) const = default;
};

// Opens a GPU without blocking, since NVML may take seconds. The watch checks the future at each
// poll.
using OpenGpu = std::function<std::future<Result<std::shared_ptr<Gpu>>>(const DeviceName&)>;

class GpuWatch {
 public:
  // `clock` must outlive it.
  GpuWatch(DeviceName name, const OpenGpu& open, Clock& clock, const SamplerOptions& options);

  // Starts whatever reads are due and returns a reading if one is ready. Never waits.
  std::optional<SamplerReading> poll(Instant now);
  // Returns every outstanding reading and one final one, whether due or not.
  std::vector<SamplerReading> poll_last(Instant now);
  // Asks for a counter read at `time`, where a Window is expected to begin or end. No effect until
  // the GPU is open.
  void want_energy_counter_at(Instant time);
  Instant due() const;

  const DeviceName& name() const { return name_; }
  const Clock& clock() const { return clock_; }
  bool opened() const { return sampler_ != nullptr; }
  const GpuIdentity& identity() const { return gpu_->identity(); }           // only once opened
  const Capabilities& capabilities() const { return gpu_->capabilities(); }  // only once opened
  Gpu& gpu() { return *gpu_; }                                               // only once opened
  // Readings of the last 12 seconds, oldest first.
  const std::deque<SamplerReading>& recent() const { return recent_; }
  const std::optional<Error>& problem() const { return problem_; }  // the newest error
  // True between a failed read and the next attempt.
  bool failing() const { return try_again_.has_value(); }
  // What was found out about its sensors, for one line to a person; "" where there is nothing new.
  std::string take_finding() { return sampler_ ? sampler_->take_finding() : std::string(); }

  // Energy between the first and the last counter read.
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
