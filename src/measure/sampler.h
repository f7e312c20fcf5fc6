// SPDX-License-Identifier: Apache-2.0
//
// Reads a GPU's sensors as often as they are worth it. Cheap ones (power, clocks, reasons:
// microseconds) at every poll. The energy counter costs 3 ms a read on an H200 and moves every
// 100 ms: it is read at every poll until its rhythm is known, and from then on now and then, well
// between two steps, which tells the energy at the earlier step exactly (counter_clock.h), and
// where somebody wants it: a Window begins or ends. The card's own buffer of power samples is
// drained with the counter, and in between before it runs over (an H200's holds 2.4 s).
//
// `monitor`, `run` and `simulate` poll through it. Fails as Gpu::read() does.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "gpu/gpu.h"
#include "measure/counter_clock.h"

namespace hypermile {

struct SamplerOptions {
  SensorSet cheap = Sensor::kPowerInstant | Sensor::kClocks | Sensor::kEventReasons;
  Seconds period = milliseconds(20);  // between two polls
  // The same where the card keeps power samples of its own, twenty-five a second and more, once the
  // counter is known: what is left moves every 100 ms. 0: no difference.
  Seconds calm_period = Seconds(0);
  Seconds counter_period = Seconds(2);  // between two reads of the counter, once it is known
  Seconds drain_period = Seconds(1.1);  // of the power buffer, at the latest; 0: never
};

struct SamplerReading {
  Sample sample;                    // cheap sensors now, and the counter where it was read
  std::optional<CounterStep> step;  // of the counter, newly known
  std::vector<TimedPower> history;  // newly drained, oldest first; mostly empty
  bool counter_stands_still = false;
};

class Sampler {
 public:
  // `gpu` and `clock` must outlive it.
  Sampler(Gpu& gpu, Clock& clock, const SamplerOptions& options = {});

  // When poll() should be called next.
  Instant due() const { return due_; }
  // Reads now.
  Result<SamplerReading> poll();
  // For loops that must not wait for a card: starts reading and gives what was read meanwhile, on a
  // card behind a thread of its own what the poll before started. nullopt: nothing yet.
  Result<std::optional<SamplerReading>> poll_ahead();
  // All that is left to be told: what was started before, and everything a last reading can tell.
  std::vector<SamplerReading> poll_last();
  // Reads the counter at the first instant from `time` on at which a read tells something, whatever
  // the plan; of several such wishes the earliest counts.
  void want_counter_at(Instant time);
  void want_counter() { want_counter_at(clock_.now()); }
  // Drains the power buffer at the next poll.
  void want_history() { drained_.reset(); }

  std::uint64_t counter_reads() const { return counter_reads_; }
  const CounterClock& counter() const { return counter_; }

 private:
  bool counter_due(Instant now) const;
  SensorWish plan(Instant now) const;
  bool calm() const;
  // It was carried out, or is.
  void note_started(const SensorWish& wish, Instant now);
  Result<SamplerReading> take(SensorRound round);

  Gpu& gpu_;
  Clock& clock_;
  SamplerOptions options_;
  Instant due_;
  CounterClock counter_;
  std::optional<Instant> counter_read_;  // last
  bool has_counter_ = true;
  std::optional<Instant> counter_wanted_;  // from then on
  std::uint64_t counter_reads_ = 0;        // answered
  std::optional<Instant> drained_;         // last
  Instant newest_history_;
  bool has_history_ = true;
  bool dense_history_ = false;
};

}  // namespace hypermile
