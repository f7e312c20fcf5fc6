// SPDX-License-Identifier: Apache-2.0
#include "measure/sampler.h"

#include <algorithm>
#include <span>

namespace hypermile {
namespace {

// A counter that shows no rhythm after this many reads has none; from then on it is read on
// schedule.
constexpr std::uint64_t kLearningReads = 150;
// A scheduled read may wait this many periods for a requested one.
constexpr double kPatience = 1.5;
// The card's own power samples replace polled ones if they are at most this far apart.
constexpr Seconds kDense = milliseconds(40);
constexpr std::size_t kFewestSamples = 5;

bool dense(std::span<const TimedPower> history) {
  if (history.size() < kFewestSamples) return false;
  const double gaps = static_cast<double>(history.size() - 1);
  return (history.back().time - history.front().time) / gaps <= kDense;
}

}  // namespace

Sampler::Sampler(Gpu& gpu, Clock& clock, const SamplerOptions& options)
    : gpu_(gpu),
      clock_(clock),
      options_(options),
      due_(clock.now()),
      check_(gpu.capabilities()),
      newest_history_(due_) {}

bool Sampler::counter_due(Instant now) const {
  if (!has_counter_) return false;
  const bool learning = !counter_.known() && counter_reads_ < kLearningReads;
  if (learning || !counter_read_) return true;
  if (!counter_.good_time(now)) return false;
  if (counter_wanted_ && now >= *counter_wanted_) return true;
  // Skip the scheduled read if a requested one follows soon.
  const Seconds patience =
      counter_wanted_ && *counter_wanted_ - *counter_read_ < kPatience * options_.counter_period
          ? kPatience * options_.counter_period
          : options_.counter_period;
  return now - *counter_read_ >= patience - options_.period / 2;
}

SensorWish Sampler::next_wish(Instant now) const {
  SensorWish wish{options_.cheap, std::nullopt};
  const bool count = counter_due(now);
  if (count) wish.sensors = wish.sensors | Sensor::kEnergy;
  if (!has_history_ || options_.drain_period <= Seconds(0)) return wish;
  // Drain together with a counter read, so that power is known as far as energy is.
  const bool planned = count && counter_.known();
  if (planned || !drained_ || now - *drained_ >= options_.drain_period) {
    wish.history_after = newest_history_;
  }
  return wish;
}

bool Sampler::calm() const {
  return options_.calm_period > Seconds(0) && dense_history_ && (counter_.known() || !has_counter_);
}

void Sampler::note_started(const SensorWish& wish, Instant now) {
  if (wish.sensors.has(Sensor::kEnergy)) {
    counter_read_ = now;
    if (counter_wanted_ && now >= *counter_wanted_) counter_wanted_.reset();
  }
  if (wish.history_after) drained_ = now;
  // Polls keep their rhythm; after a late poll the missed ones are skipped.
  const Seconds period = calm() ? options_.calm_period : options_.period;
  due_ = due_ + period;
  if (due_ <= now) due_ = now + period;
}

void Sampler::want_energy_counter_at(Instant time) {
  counter_wanted_ = counter_wanted_ ? std::min(*counter_wanted_, time) : time;
}

Result<SamplerReading> Sampler::poll() {
  const Instant now = clock_.now();
  const SensorWish wish = next_wish(now);
  note_started(wish, now);
  return take(read_round(gpu_, wish));
}

Result<std::optional<SamplerReading>> Sampler::poll_ahead() {
  const Instant now = clock_.now();
  const SensorWish wish = next_wish(now);
  PolledRounds rounds = gpu_.poll(wish);
  note_started(rounds.started ? wish : SensorWish(), now);
  if (!rounds.done) return std::optional<SamplerReading>();
  ASSIGN_OR_RETURN(SamplerReading reading, take(*std::move(rounds.done)));
  return std::optional(std::move(reading));
}

std::vector<SamplerReading> Sampler::poll_last() {
  SensorWish wish{options_.cheap, std::nullopt};
  if (has_counter_) wish.sensors = wish.sensors | Sensor::kEnergy;
  if (has_history_ && options_.drain_period > Seconds(0)) wish.history_after = newest_history_;
  SensorRound last = read_round(gpu_, wish);
  // The round that was started earlier is complete by now and comes first.
  PolledRounds before = gpu_.poll({});
  std::vector<SamplerReading> readings;
  if (before.done) {
    if (auto reading = take(*std::move(before.done))) readings.push_back(*std::move(reading));
  }
  if (auto reading = take(std::move(last))) readings.push_back(*std::move(reading));
  return readings;
}

Result<SamplerReading> Sampler::take(SensorRound round) {
  if (!round.sample) return round.sample.error();
  SamplerReading reading;
  reading.sample = *std::move(round.sample);
  check_.check(reading.sample);
  if (round.wish.sensors.has(Sensor::kEnergy)) {
    ++counter_reads_;
    if (reading.sample.energy) {
      reading.step = counter_.add(reading.sample.time, *reading.sample.energy);
    } else if (counter_reads_ == 1) {
      has_counter_ = false;
    }
  }
  if (check_.counter_given_up() && has_counter_) {
    has_counter_ = false;
    counter_ = EnergyCounterClock();
  }
  reading.counter_stands_still = counter_.stands_still();
  if (round.history) {
    reading.history = *std::move(round.history);
    check_.check(reading.history, clock_.now());
    // Another round may have been started before this one was returned.
    std::erase_if(reading.history,
                  [this](const TimedPower& power) { return power.time <= newest_history_; });
    if (round.wish.history_after) dense_history_ = dense(reading.history);
    if (!reading.history.empty()) newest_history_ = reading.history.back().time;
    return reading;
  }
  if (round.history.error().code == ErrorCode::kNotReady) return reading;
  if (round.history.error().code != ErrorCode::kUnsupported) return round.history.error();
  has_history_ = false;
  return reading;
}

}  // namespace hypermile
