// SPDX-License-Identifier: Apache-2.0
//
// Reads a GPU's sensors as often as they are worth it. Cheap ones (power, clocks, reasons:
// microseconds) at every poll; the energy counter, which costs 3 ms a read on an H200 and moves
// every 100 ms, once a step until its rhythm is known and from then on only as often as asked. Its
// steps come like clockwork, so one read anywhere between two steps tells the energy at the earlier
// one: counter_clock.h says when that was. The card's own power buffer is drained now and then.
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
  Seconds period = milliseconds(20);           // between two polls
  Seconds counter_period = milliseconds(500);  // between two reads of the counter, once it is known
  Seconds drain_period = Seconds(1);           // of the power buffer; 0: never
};

struct SamplerReading {
  // Cheap sensors now. Where the counter was read, `energy` with them, and `time` its read.
  Sample sample;
  // The counter's newest step as a point of its own: what it showed, and when it came to show it.
  std::optional<CounterStep> step;
  std::vector<TimedPower> history;  // newly drained, oldest first; mostly empty
};

class Sampler {
 public:
  // `gpu` and `clock` must outlive it.
  Sampler(Gpu& gpu, Clock& clock, const SamplerOptions& options = {});

  // When poll() should be called next.
  Instant due() const { return due_; }
  Result<SamplerReading> poll();
  // Reads the counter at the next poll whatever the plan says: a Window begins or ends here.
  void want_counter() { counter_wanted_ = true; }

  std::uint64_t counter_reads() const { return counter_reads_; }
  const CounterClock& counter() const { return counter_; }

 private:
  bool counter_due(Instant now) const;
  Result<void> drain(Instant now, SamplerReading& reading);

  Gpu& gpu_;
  Clock& clock_;
  SamplerOptions options_;
  Instant due_;
  CounterClock counter_;
  std::optional<Instant> counter_read_;
  bool counter_wanted_ = false;
  std::uint64_t counter_reads_ = 0;
  std::optional<Instant> drained_;
  bool has_history_ = true;
};

}  // namespace hypermile
