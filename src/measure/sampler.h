// SPDX-License-Identifier: Apache-2.0
//
// Reads a GPU's sensors as often as each is worth. Cheap ones (power, clocks, reasons) cost
// microseconds and are read at every poll. The energy counter costs 3 ms a read on an H200 and
// moves every 100 ms. It is read at every poll until its rhythm is known. From then on it is read
// rarely, half-way between two steps, which gives the exact energy at the earlier step
// (energy_counter_clock.h), and on request where a Window begins or ends. The card's own buffer of
// power samples is drained with each counter read, and in between before it overflows (2.4 s on an
// H200). What cannot be true is left out (sensor_check.h).
//
// `monitor`, `run` and `simulate` poll through it on their own thread. Fails as Gpu::read() does.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "gpu/gpu.h"
#include "measure/energy_counter_clock.h"
#include "measure/sensor_check.h"

namespace hypermile {

struct SamplerOptions {
  SensorSet cheap = Sensor::kPowerInstant | Sensor::kClocks | Sensor::kEventReasons;
  Seconds period = milliseconds(20);  // between two polls
  // The period once the counter's rhythm is known, on a card that buffers at least 25 power samples
  // a second itself: the remaining sensors change every 100 ms only. 0 means `period`.
  Seconds calm_period = Seconds(0);
  Seconds counter_period = Seconds(2);  // between two counter reads, once the rhythm is known
  // longest time between two drains of the power buffer; 0: never drain
  Seconds drain_period = Seconds(1.1);
};

struct SamplerReading {
  Sample sample;                          // the cheap sensors, and the counter where it was read
  std::optional<EnergyCounterStep> step;  // a counter step that this reading made known
  std::vector<TimedPower> history;        // newly drained samples, oldest first; mostly empty
  bool counter_stands_still = false;
};

class Sampler {
 public:
  // `gpu` and `clock` must outlive this.
  Sampler(Gpu& gpu, Clock& clock, const SamplerOptions& options = {});

  // When poll() should be called next.
  Instant due() const { return due_; }
  // Reads now and waits for the result.
  Result<SamplerReading> poll();
  // For loops that must not wait for a card: starts a read and returns whatever is complete by now.
  // For a card behind its own thread that is the read of the previous poll, or nullopt.
  Result<std::optional<SamplerReading>> poll_ahead();
  // Returns the outstanding reading and a final one with all sensors.
  std::vector<SamplerReading> poll_last();
  // Reads the counter at the first useful instant from `time` on, ahead of its schedule. Of several
  // pending requests the earliest counts.
  void want_energy_counter_at(Instant time);
  void want_energy_counter() { want_energy_counter_at(clock_.now()); }
  // Drains the power buffer at the next poll.
  void want_history() { drained_.reset(); }

  std::uint64_t counter_reads() const { return counter_reads_; }
  const EnergyCounterClock& counter() const { return counter_; }
  // See SensorCheck.
  std::string take_finding() { return check_.take_finding(); }

 private:
  bool counter_due(Instant now) const;
  SensorWish next_wish(Instant now) const;
  bool calm() const;
  // Records that `wish` has been carried out or started.
  void note_started(const SensorWish& wish, Instant now);
  Result<SamplerReading> take(SensorRound round);

  Gpu& gpu_;
  Clock& clock_;
  SamplerOptions options_;
  Instant due_;
  SensorCheck check_;
  EnergyCounterClock counter_;
  std::optional<Instant> counter_read_;  // time of the newest counter read
  bool has_counter_ = true;
  // Set while a counter read is requested from this time on.
  std::optional<Instant> counter_wanted_;
  std::uint64_t counter_reads_ = 0;  // reads that returned a value
  std::optional<Instant> drained_;   // time of the newest drain
  Instant newest_history_;
  bool has_history_ = true;
  bool dense_history_ = false;
};

}  // namespace hypermile
