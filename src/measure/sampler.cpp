// SPDX-License-Identifier: Apache-2.0
#include "measure/sampler.h"

namespace hypermile {
namespace {

// A counter whose rhythm does not show after so long has none, and is read as the plan says.
constexpr std::uint64_t kLearningReads = 150;

}  // namespace

Sampler::Sampler(Gpu& gpu, Clock& clock, const SamplerOptions& options)
    : gpu_(gpu), clock_(clock), options_(options), due_(clock.now()), newest_history_(due_) {}

bool Sampler::counter_due(Instant now) const {
  if (!has_counter_) return false;
  const bool learning = !counter_.known() && counter_reads_ < kLearningReads;
  if (learning || !counter_read_) return true;
  if (!counter_.good_time(now)) return false;
  return counter_wanted_ || now - *counter_read_ >= options_.counter_period - options_.period / 2;
}

Result<SamplerReading> Sampler::poll() {
  const Instant now = clock_.now();
  const bool count = counter_due(now);
  SamplerReading reading;
  ASSIGN_OR_RETURN(reading.sample,
                   gpu_.read(count ? options_.cheap | Sensor::kEnergy : options_.cheap));
  if (count) {
    ++counter_reads_;
    counter_read_ = now;
    counter_wanted_ = false;
    if (reading.sample.energy) {
      reading.step = counter_.add(reading.sample.time, *reading.sample.energy);
    } else if (counter_reads_ == 1) {
      has_counter_ = false;
    }
  }
  reading.counter_stands_still = counter_.stands_still();
  RETURN_IF_ERROR(drain(now, reading));
  // Polls keep their rhythm; one that comes late does not bring a burst after it.
  due_ = due_ + options_.period;
  if (due_ <= now) due_ = now + options_.period;
  return reading;
}

Result<void> Sampler::drain(Instant now, SamplerReading& reading) {
  if (!has_history_ || options_.drain_period <= Seconds(0)) return {};
  if (drained_ && now - *drained_ < options_.drain_period) return {};
  drained_ = now;
  Result<std::vector<TimedPower>> history = gpu_.power_history(newest_history_);
  if (history.ok()) {
    reading.history = std::move(*history);
    if (!reading.history.empty()) newest_history_ = reading.history.back().time;
    return {};
  }
  if (history.error().code == ErrorCode::kNotReady) return {};
  if (history.error().code != ErrorCode::kUnsupported) return history.error();
  has_history_ = false;
  return {};
}

}  // namespace hypermile
