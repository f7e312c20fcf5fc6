// SPDX-License-Identifier: Apache-2.0
#include "measure/gpu_watch.h"

#include <chrono>

namespace hypermile {
namespace {

// Boundaries arrive late, and a Window needs readings from before its first
// Boundary. A host that launches a whole optimizer step and waits is told of up to 30 s late.
constexpr Seconds kKeep = Seconds(36);
constexpr Seconds kPause = Seconds(2);  // after a failure
constexpr Seconds kAskAgain = milliseconds(20);

}  // namespace

GpuWatch::GpuWatch(DeviceName name, const OpenGpu& open, Clock& clock,
                   const SamplerOptions& options)
    : name_(std::move(name)), opening_(open(name_)), clock_(clock), options_(options) {}

void GpuWatch::take_opened() {
  if (!opening_.valid()) return;
  if (opening_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
  Result<std::shared_ptr<Gpu>> gpu = opening_.get();
  if (!gpu) {
    problem_ = gpu.error();
    return;
  }
  gpu_ = std::move(gpu).value();
  sampler_ = std::make_unique<Sampler>(*gpu_, clock_, options_);
}

Instant GpuWatch::due() const {
  if (try_again_) return *try_again_;
  if (sampler_) return sampler_->due();
  return clock_.now() + (opening_.valid() ? kAskAgain : Seconds(1));
}

std::optional<SamplerReading> GpuWatch::poll(Instant now) {
  take_opened();
  if (!sampler_ || now < sampler_->due() || (try_again_ && now < *try_again_)) return std::nullopt;
  Result<std::optional<SamplerReading>> reading = sampler_->poll_ahead();
  if (!reading) {
    problem_ = reading.error();
    try_again_ = now + kPause;
    return std::nullopt;
  }
  try_again_.reset();
  if (*reading) remember(**reading, now);
  return *std::move(reading);
}

std::vector<SamplerReading> GpuWatch::poll_last(Instant now) {
  if (!sampler_ || try_again_) return {};
  std::vector<SamplerReading> readings = sampler_->poll_last();
  for (const SamplerReading& reading : readings) remember(reading, now);
  return readings;
}

void GpuWatch::want_energy_counter_at(Instant time) {
  if (sampler_) sampler_->want_energy_counter_at(time);
}

void GpuWatch::remember(const SamplerReading& reading, Instant now) {
  if (reading.sample.energy) {
    if (!first_energy_) first_energy_ = reading.sample.energy;
    last_energy_ = reading.sample.energy;
  }
  recent_.push_back(reading);
  while (!recent_.empty() && now - recent_.front().sample.time > kKeep) recent_.pop_front();
}

std::optional<Joules> GpuWatch::energy() const {
  if (!first_energy_ || *last_energy_ < *first_energy_) return std::nullopt;
  return *last_energy_ - *first_energy_;
}

}  // namespace hypermile
